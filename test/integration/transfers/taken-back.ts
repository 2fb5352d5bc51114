import { clearInclusions } from '../../../src/following/inclusions';
import { reopenFinal } from '../../../src/following/reopen-final';
import { ethereum, type Fixture } from '../ledger/fixture';

type Database = Pick<Fixture, 'database'>;

/** The block that has ended the transfer is final. */
export async function finalise({ database }: Database, txId: string): Promise<string> {
  await database.query('update transactions set finalized_at = now() where tx_id = $1', [txId]);
  return txId;
}

/** The chain takes back every block that holds one, as the follower does it. */
export async function losesItsBlock({ database }: Database, txId: string): Promise<string> {
  await database.transaction(async (manager) => {
    const lost = await clearInclusions(manager, ethereum.name, 1);
    await reopenFinal(
      manager,
      ethereum.name,
      lost.map((it) => it.txId),
    );
  });
  return txId;
}
