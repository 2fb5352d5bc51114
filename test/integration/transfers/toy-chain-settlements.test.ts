import { verifyLedger } from '../../../src/ledger/verify';
import type { SignedType } from '../../../src/transactions/signed-type';
import { refuse } from '../../../src/transfers/sign/not-begun';
import { reconcileReorg } from '../../../src/transfers/confirm/reconcile-reorg';
import { lifeBlocks } from '../../toy-chain/client';
import { toyFamily } from '../../toy-chain/family';
import { createSettlementFixture, payingFamily, type SettlementFixture } from '../../toy-chain/settlements';
import { refuseAttempt } from '../../refusals';

/** Transactions of a signed type that are no payments of their client, step by step: signed by another client's account, holding nothing. */

let fixture: SettlementFixture;
const create = async (...options: Parameters<typeof createSettlementFixture>) => {
  fixture = await createSettlementFixture(...options);
};
afterEach(() => fixture.close());

const log = { error: () => undefined, warn: () => undefined };
const reservationsOf = async (txId: string) => (await fixture.reservations(txId)).map(({ owner, isHeld }) => [owner, isHeld]);

/** Sent, included and as deep as its end needs. */
async function execute(txId: string): Promise<void> {
  const { onChain, ledger, toy, chain, follow } = fixture;
  expect(await onChain.broadcast({ txId, attempt: 1 })).toMatchObject({ outcome: 'accepted' });
  await ledger.markSubmitted({ txId, attempt: 1 });
  toy.mine(chain.confirmations);
  await follow();
}

test('a settlement is begun, signed by the settler and confirmed, and nothing is posted', async () => {
  await create();
  const { accept, signFirst, settler, payer, outside, toy, ledger, transaction, postings, database } = fixture;
  const txId = await accept();
  expect(await ledger.adoptHold({ txId })).toMatchObject({ outcome: 'held', transfer: { lastAttempt: 0 } });
  const paidBefore = toy.unspent(outside).length;
  const { claims, unsigned } = await signFirst(txId);
  const recipients = [{ address: outside, token: null, amount: '5000' }];
  expect(claims).toMatchObject({ client_id: settler.clientId, from: settler.address, recipients });
  expect(claims.signers.map(({ key_id: key }) => key)).toEqual([settler.keyId]);
  expect(toyFamily.describe(unsigned)).toMatchObject({ action: 'settlement', outputs: [{ recipient: outside, amount: 5_000n }] });
  expect(await reservationsOf(txId)).toEqual([[settler.addressKey, true]]);
  await execute(txId);
  expect(toy.unspent(outside)).toHaveLength(paidBefore + 1);
  expect(fixture.signals.at(-1)).toMatchObject({ txId, observation: { state: 'confirmed' } });
  expect(await ledger.settleTransfer({ txId })).toEqual({ status: 'CONFIRMED', code: null, reason: null });
  expect(await transaction(txId)).toMatchObject({ status: 'CONFIRMED', from_address: payer, fee: '10', fee_locked: '0' });
  expect(await postings(txId)).toEqual([]);
  expect(await verifyLedger(database.manager)).toEqual([]);
});

test('an attempt that was begun is resumed with the same bytes', async () => {
  await create();
  const { accept, begin, ledger, settler } = fixture;
  const txId = await accept();
  const begun = await begin(txId);
  const resumed = await ledger.beginSigning({ txId, lastAttempt: 1, kind: 'resume' });
  expect(resumed).toEqual({ ...begun, outcome: 'begun' });
  expect(await reservationsOf(txId)).toEqual([[settler.addressKey, true]]);
});

describe('a confirmed settlement that a reorganisation moves to another block', () => {
  async function moved(): Promise<{ txId: string; before: unknown }> {
    const { accept, signFirst, toy, chain, follow, ledger, transaction } = fixture;
    const txId = await accept();
    await signFirst(txId);
    await execute(txId);
    await ledger.settleTransfer({ txId });
    const { block_hash: before } = await transaction(txId);
    toy.reorganise(chain.confirmations);
    toy.mine(chain.confirmations + 1);
    await follow();
    return { txId, before };
  }

  test('stands there', async () => {
    await create();
    const { txId, before } = await moved();
    expect(await reconcileReorg({ database: fixture.database, log }, { txId })).toBe('stands');
    expect((await fixture.transaction(txId)).block_hash).not.toBe(before);
    expect(await fixture.postings(txId)).toEqual([]);
  });

  test('is an alert if it is reverted there; no account is frozen, since none holds anything for it', async () => {
    await create();
    const { txId } = await moved();
    const { database } = fixture;
    await database.query('update transfer_attempts set success = false where tx_id = $1', [txId]);
    const alerts: unknown[] = [];
    const outcome = await reconcileReorg(
      { database, log: { error: (alert: unknown) => void alerts.push(alert), warn: () => undefined } },
      { txId },
    );
    expect(outcome).toBe('differs');
    expect(alerts).toEqual([{ alert: 'ended_transfer_changed', tx_id: txId }]);
    expect(await database.query('select from ledger_accounts where frozen_reason is not null')).toEqual([]);
  });
});

test('of which nothing was signed it ends without a posting', async () => {
  await create();
  const { accept, database, ledger, postings, transaction } = fixture;
  const txId = await accept();
  const end = { status: 'FAILED', code: 'expired', reason: 'too late' } as const;
  await refuseAttempt(database, { txId }, end);
  expect(await ledger.endTransfer({ txId })).toEqual(end);
  expect(await transaction(txId)).toMatchObject({ status: 'FAILED', failure_code: 'expired', signing_begun_at: null });
  expect(await postings(txId)).toEqual([]);
});

test('proven impossible it is FAILED, and what it had reserved is free again', async () => {
  await create();
  const { accept, database, signFirst, onChain, toy, chain, ledger, postings, settler } = fixture;
  const txId = await accept();
  await signFirst(txId);
  toy.mine(lifeBlocks + chain.finalityDepth);
  expect(await onChain.observe({ txId })).toMatchObject({ state: 'impossible' });
  await refuseAttempt(database, { txId, attempt: 2 }, { code: 'expired' });
  expect(await ledger.failByProof({ txId })).toMatchObject({ status: 'FAILED' });
  expect(await reservationsOf(txId)).toEqual([[settler.addressKey, false]]);
  expect(await postings(txId)).toEqual([]);
});

test.each([
  ['over', -1, { status: 'FAILED', code: 'expired', reason: 'It was not executed in time' }],
  ['not over', 60_000, null],
])('proven impossible, with nothing on record that gives it up, while its time is %s', async (_, timeLeft, end) => {
  await create({ timeLeft: () => Promise.resolve(timeLeft) });
  const { accept, signFirst, onChain, toy, chain, ledger } = fixture;
  const txId = await accept();
  await signFirst(txId);
  toy.mine(lifeBlocks + chain.finalityDepth);
  expect(await onChain.observe({ txId })).toMatchObject({ state: 'impossible' });
  const failed = ledger.failByProof({ txId });
  if (end) expect(await failed).toEqual(end);
  else await expect(failed).rejects.toMatchObject({ code: 'not_cancellable' });
});

describe('what its type forbids is not begun', () => {
  const forbid = () => Promise.resolve().then(() => refuse('expired', 'the payment is no longer valid'));
  const cases: [string, Partial<SignedType>][] = [
    ['before its first attempt', { assertMayBegin: forbid }],
    ['when it is resumed', { assertMayContinue: forbid }],
  ];

  test.each(cases)('%s', async (_, type) => {
    await create(type);
    const { accept, begin, ledger, transaction } = fixture;
    const txId = await accept();
    const first = await begin(txId);
    const answer = type.assertMayBegin ? first : await ledger.beginSigning({ txId, lastAttempt: 1, kind: 'resume' });
    expect(answer).toEqual({ outcome: 'refused', code: 'expired', reason: 'the payment is no longer valid' });
    expect((await transaction(txId)).status).toBe(type.assertMayBegin ? 'PENDING' : 'SIGNING');
  });
});

test('its first order has the kind of its type, and a kind that is not enabled is not ordered', async () => {
  await create({ orderKind: 'sweep' });
  const txId = await fixture.accept();
  await expect(fixture.begin(txId)).rejects.toMatchObject({
    code: 'order_refused',
    message: expect.stringContaining('sweep'),
  });
  expect(await fixture.transaction(txId)).toMatchObject({ status: 'PENDING', signing_begun_at: null });
});

test('bytes that pay what was to be settled are not ordered', async () => {
  await create({}, payingFamily);
  const txId = await fixture.accept();
  await expect(fixture.begin(txId)).rejects.toThrow(`the bytes for ${txId} are a payment in place of a settlement`);
  expect(await fixture.attempts(txId)).toEqual([]);
});

test('a transfer of a client whose row names another sender is not begun', async () => {
  await create();
  const { transfer, outside, database, settler, onChain, ledger } = fixture;
  const txId = await transfer({ tokenSymbol: 'TOY', amount: '10', toAddress: outside });
  const prepared = await onChain.prepareAttempt({ txId, attempt: 1, kind: 'first' });
  await database.query('alter table transactions disable trigger user');
  await database.query('update transactions set sender_address = $2 where tx_id = $1', [txId, settler.address]);
  await database.query('alter table transactions enable trigger user');
  const begun = ledger.beginSigning({ txId, lastAttempt: 0, kind: 'first', prepared });
  await expect(begun).rejects.toThrow(`transfer ${txId} is not from an account of its client`);
});
