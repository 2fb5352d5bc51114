import { recordAbandonRequest } from '../../../src/transfers/operate/operator-requests';
import type { Fixture } from '../ledger/fixture';

/** An operator wants the transfer abandoned, and knows its newest attempt. */
export async function abandonable({ database }: Pick<Fixture, 'database'>, txId: string): Promise<void> {
  const [row] = await database.query<[{ attempt: number }]>(
    'select max(attempt) as attempt from transfer_attempts where tx_id = $1',
    [txId],
  );
  await recordAbandonRequest(database.manager, { txId, attempt: row.attempt, operator: 'test' });
}
