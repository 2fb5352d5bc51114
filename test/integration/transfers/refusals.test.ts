import { recordAbandonRequest, withdrawAbandonRequest } from '../../../src/transfers/operate/operator-requests';
import type { Refusal } from '../../../src/transfers/end/refusals';
import { setFeeLevels } from '../../factories';
import { begin, ether, ethereum, type Fixture, sign } from '../ledger/fixture';
import { auditOf, listAddress } from '../screening/factors';
import { useFundedFixture } from './fixture';

/** What the steps record when they refuse an attempt, and the end that follows from it. That the chain refuses: first-attempt.test.ts. */

let fixture: Fixture;
const { row, locked } = useFundedFixture((it) => (fixture = it));

const recorded = (txId: string) =>
  fixture.database.query<Refusal[]>('select attempt, kind, code from refusals where tx_id = $1 order by refused_at', [txId]);
const suspend = () => fixture.database.query(`update wallets set status = 'SUSPENDED'`);
const unpayable = { maxFeePerGas: ether };

test('screening: by a rule, once however often it is asked', async () => {
  const txId = await locked();
  await suspend();
  for (let times = 0; times < 2; times += 1)
    expect(await fixture.ledger.screenTransfer({ txId })).toMatchObject({ outcome: 'refused', code: 'wallet_not_active' });
  expect(await recorded(txId)).toEqual([{ attempt: 1, kind: 'rule', code: 'wallet_not_active' }]);
  expect(await fixture.ledger.endTransfer({ txId })).toMatchObject({ status: 'REJECTED', code: 'wallet_not_active' });
  expect(await auditOf(fixture.database, 'transfer.refused', txId)).toHaveLength(1);
});

test('screening: by a list', async () => {
  const txId = await locked();
  await listAddress(fixture.database, fixture.account, (await row(txId)).toAddress);
  await fixture.ledger.screenTransfer({ txId });
  expect(await recorded(txId)).toEqual([{ attempt: 1, kind: 'rule', code: 'address_blacklisted' }]);
  expect(await fixture.ledger.endTransfer({ txId })).toMatchObject({ status: 'REJECTED', code: 'address_blacklisted' });
});

test('screening: a transfer that it allows has no refusal', async () => {
  const txId = await locked();
  expect(await fixture.ledger.screenTransfer({ txId })).toEqual({ outcome: 'allowed' });
  expect(await recorded(txId)).toEqual([]);
});

test('the authoriser: by a rule', async () => {
  const txId = await locked();
  await suspend();
  expect(await begin(fixture, { txId })).toMatchObject({ outcome: 'refused', byRule: true });
  expect(await recorded(txId)).toEqual([{ attempt: 1, kind: 'rule', code: 'wallet_not_active' }]);
  expect(await fixture.ledger.endTransfer({ txId })).toMatchObject({ status: 'REJECTED' });
});

test('the authoriser: by a fee that it does not order', async () => {
  const txId = await locked();
  expect(await begin(fixture, { txId, fees: unpayable })).toMatchObject({ outcome: 'refused', code: 'fee_above_bound' });
  expect(await recorded(txId)).toEqual([{ attempt: 1, kind: 'order', code: 'fee_above_bound' }]);
  expect(await fixture.ledger.endTransfer({ txId })).toMatchObject({ status: 'FAILED', code: 'fee_above_bound' });
});

test('the authoriser: nothing for an attempt that waits, nor for one whose refusal ends nothing', async () => {
  const txId = await locked();
  await setFeeLevels(fixture.database, ethereum, { baseFee: 1n });
  expect(await begin(fixture, { txId, fees: { maxFeePerGas: 40_000_000_000n } })).toMatchObject({ outcome: 'wait' });
  await setFeeLevels(fixture.database, ethereum);
  await sign(fixture, txId);
  for (const kind of ['replacement', 'cancellation'] as const)
    expect(await begin(fixture, { txId, attempt: 2, kind, fees: unpayable })).toMatchObject({ outcome: 'refused' });
  expect(await recorded(txId)).toEqual([]);
});

test('the authoriser: nothing about a reissue on a chain that has none, so that it ends no transfer', async () => {
  const txId = await locked();
  await sign(fixture, txId);
  await fixture.database.query(`update transfer_attempts set impossible_proof = '{"why":"test"}'`);
  await expect(begin(fixture, { txId, attempt: 2, kind: 'reissue', fees: unpayable })).rejects.toThrow('no reissue');
  expect(await recorded(txId)).toEqual([]);
  await expect(fixture.ledger.failByProof({ txId })).rejects.toMatchObject({ code: 'not_cancellable' });
});

describe('a transfer whose attempts cannot be executed, as the worker’s proofs say, true or false', () => {
  const operator = 'alice';
  const prove = (txId: string) =>
    fixture.database.query(`update transfer_attempts set impossible_proof = '{"why":"test"}' where tx_id = $1`, [txId]);
  const request = (txId: string, attempt: number) => recordAbandonRequest(fixture.database.manager, { txId, attempt, operator });
  const isHeld = async (txId: string) => {
    await expect(fixture.ledger.failByProof({ txId })).rejects.toMatchObject({ code: 'not_cancellable' });
    expect((await row(txId)).endedAt).toBeNull();
  };

  test('ends with an operator’s request that knows the newest attempt, and not without', async () => {
    const txId = await locked();
    await sign(fixture, txId);
    await fixture.ledger.markSubmitted({ txId, attempt: 1 });
    await sign(fixture, txId, 2, { maxFeePerGas: 2_300_000_000n });
    await prove(txId);
    await isHeld(txId);
    await request(txId, 1);
    await isHeld(txId);
    await request(txId, 2);
    await withdrawAbandonRequest(fixture.database.manager, { txId, operator });
    await isHeld(txId);
    await request(txId, 2);
    expect(await fixture.ledger.failByProof({ txId })).toMatchObject({ status: 'FAILED', code: 'abandoned' });
  });

  test('is not ended by a request while one of them has no proof', async () => {
    const txId = await locked();
    await sign(fixture, txId);
    await request(txId, 1);
    await isHeld(txId);
    await prove(txId);
    await sign(fixture, txId, 2, { maxFeePerGas: 2_300_000_000n });
    await request(txId, 2);
    await isHeld(txId);
  });
});
