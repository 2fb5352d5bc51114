import type { DataSource } from 'typeorm';
import { createTestLedger } from '../../ledger';
import { signAs } from '../../factories';
import { type Fixture, include, prepared, registry } from '../ledger/fixture';
import { allowSettling, type buildSettler, claim, type Claim, claimBy } from './settlement-fixture';

/** Settlements of one settler from their claim to their end, on a chain that does what a test says. */
export function createSettling(
  fixture: Fixture,
  { account, wallet }: Awaited<ReturnType<typeof buildSettler>>,
  {
    worker = fixture.database,
    log = { error: (): void => undefined },
  }: { worker?: DataSource; log?: { error(alert: object): void } } = {},
) {
  const ledger = createTestLedger({ database: fixture.database, registry });
  const ends = createTestLedger({ database: worker, registry, log: { ...log, warn: () => undefined } });

  const accept = async (changes: Partial<Claim> = {}) => {
    const claimed = claimBy(fixture.client.clientId, account.address, changes);
    await allowSettling(fixture.database, claimed);
    return claim(fixture.database, claimed);
  };
  const begin = (txId: string) => ledger.beginSigning({ txId, lastAttempt: 0, kind: 'first', prepared: prepared() });
  /** Signed and sent, and in a block in which it has cost so much. */
  const execute = async (txId: string, fee: bigint, success = true) => {
    const begun = await begin(txId);
    if (begun.outcome !== 'begun') throw new Error(`not begun: ${JSON.stringify(begun)}`);
    await ledger.recordSigned({ txId, attempt: 1, signatures: signAs(wallet, account, begun.unsigned) });
    await ledger.markSubmitted({ txId, attempt: 1 });
    await include(fixture, txId, 1, { fee, success, debited: success ? 5n : null });
  };
  const end = (txId: string) => ends.settleTransfer({ txId });
  /** Its id. */
  const settleFor = async (fee: bigint, success?: boolean) => {
    const txId = await accept();
    await execute(txId, fee, success);
    await end(txId);
    return txId;
  };
  return { ledger, accept, begin, execute, end, settleFor };
}
