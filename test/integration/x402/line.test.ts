import { findParkedBefore } from '../../../src/transfers/line';
import { fundAccount, signAs } from '../../factories';
import { createFixture, ether, ethereum, type Fixture, include, prepared } from '../ledger/fixture';
import { buildSettler } from './settlement-fixture';
import { createSettling } from './settling';

/** Settlements of one settler are executed in the order of their nonces, and each has a time of its own. */

let fixture: Fixture;
let built: Awaited<ReturnType<typeof buildSettler>>;
let settling: ReturnType<typeof createSettling>;

beforeAll(async () => {
  fixture = await createFixture({ poolSize: 8 });
});
beforeEach(async () => {
  built = await buildSettler(fixture.database, ethereum);
  await fundAccount(fixture.database, built.account, ethereum, 'ETH', ether);
  settling = createSettling(fixture, built);
});
afterAll(() => fixture.close());

const first = 2_500_000_000n;
/** The least that takes the place of the first attempt. */
const step = (first * 1125n) / 1000n;

/** Signed and sent, in no block. */
async function send(): Promise<string> {
  const txId = await settling.accept();
  const { ledger } = settling;
  const begun = await ledger.beginSigning({ txId, lastAttempt: 0, kind: 'first', prepared: prepared({ maxFeePerGas: first }) });
  if (begun.outcome !== 'begun') throw new Error(JSON.stringify(begun));
  await ledger.recordSigned({ txId, attempt: 1, signatures: signAs(built.wallet, built.account, begun.unsigned) });
  await ledger.markSubmitted({ txId, attempt: 1 });
  return txId;
}
const replace = (txId: string, maxFeePerGas: bigint, kind: 'replacement' | 'cancellation' = 'replacement', lastAttempt = 1) =>
  settling.ledger.beginSigning({ txId, lastAttempt, kind, prepared: prepared({ maxFeePerGas }) });
const waits = (head: string) => ({ outcome: 'refused', isFollowed: true, reason: expect.stringContaining(head) });

test('of 16 behind each other only the head is signed again, unless the chain takes more than they offer', async () => {
  const all: string[] = [];
  for (let count = 0; count < 16; count += 1) all.push(await send());
  const [head, ...behind] = all as [string, ...string[]];
  for (const [index, txId] of behind.entries()) expect(await replace(txId, step)).toMatchObject(waits(all[index] ?? ''));
  expect(await replace(head, step)).toMatchObject({ outcome: 'begun', attempt: 2 });
  // its place is kept: once it is the head it is replaced as any other
  await include(fixture, head, 1, { depth: 1 });
  const [next, ...others] = behind as [string, ...string[]];
  expect(await replace(next, step)).toMatchObject({ outcome: 'begun', attempt: 2 });
  // one after the other these would not be executed in time
  for (const txId of others) expect(await replace(txId, step + 1n)).toMatchObject({ outcome: 'begun', attempt: 2 });
});

test('once its time is over it is cancelled wherever it stands, and at a higher fee in its turn', async () => {
  const [head, txId] = [await send(), await send()];
  await fixture.database.transaction(async (manager) => {
    await manager.query('set local session_replication_role = replica');
    await manager.query('update x402_settlements set window_end = extract(epoch from now())::bigint - 2 where tx_id = $1', [
      txId,
    ]);
  });
  expect(await replace(txId, 4_000_000_000n, 'cancellation')).toMatchObject({ outcome: 'begun', attempt: 2 });
  const raised = 4_500_000_000n;
  expect(await replace(txId, raised, 'cancellation', 2)).toMatchObject(waits(head));
  await include(fixture, head, 1, { depth: 1 });
  expect(await replace(txId, raised, 'cancellation', 2)).toMatchObject({ outcome: 'begun', attempt: 3 });
});

test('what is parked and not abandoned by time is found behind any number of those that are', async () => {
  const timed: string[] = [];
  for (let count = 0; count < 21; count += 1) timed.push(await send());
  const parked = await send();
  for (const txId of [...timed, parked])
    await settling.ledger.parkTransfer({ txId, code: 'stuck', reason: 'fees are beyond the bound' });
  const line = { chain: ethereum.name, addressKey: built.account.addressKey };
  expect(await findParkedBefore(fixture.database.manager, line)).toBeUndefined();
  // as a withdrawal of a settler is
  await fixture.database.transaction(async (manager) => {
    await manager.query('set local session_replication_role = replica');
    await manager.query(`update transactions set transaction_type = 'GAS_WITHDRAWAL' where tx_id = $1`, [parked]);
  });
  expect(await findParkedBefore(fixture.database.manager, line)).toBe(parked);
});
