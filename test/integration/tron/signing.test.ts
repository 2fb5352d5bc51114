import { maxReissuedAttempts, type SigningClaims } from '../../../src/messages/order';
import { claimsOf } from '../../orders';
import { trx, usdt } from '../../tron-simulator';
import { createTronFixture, type TronFixture } from './fixture';

/** What the authoriser orders of a transfer whose attempts expire. */

let fixture: TronFixture;
beforeAll(async () => {
  fixture = await createTronFixture();
  await fixture.send(fixture.alice, trx(1_000));
  await fixture.mine(fixture.chain.confirmations);
  await fixture.follow();
});
afterAll(() => fixture.close());

const pay = () => fixture.transfer({ tokenSymbol: 'TRX', amount: '5', toAddress: fixture.bob.address });
/** Begins the first attempt, with so long to live. */
async function beginFirst(txId: string, lifeMs: number) {
  const prepared = await fixture.onChain.prepareAttempt({ txId, attempt: 1, kind: 'first' });
  const expiry = { expiration: Date.now() + lifeMs };
  return fixture.ledger.beginSigning({ txId, lastAttempt: 0, kind: 'first', prepared: { ...prepared, expiry } });
}
const resume = (txId: string, lastAttempt = 1) => fixture.ledger.beginSigning({ txId, lastAttempt, kind: 'resume' });
const orders = async (txId: string) => (await fixture.database.query<[]>('select from orders where tx_id = $1', [txId])).length;
const whenOver = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms + 100));
const disprove = (txId: string) =>
  fixture.database.query(`update transfer_attempts set impossible_proof = '{}' where tx_id = $1 and impossible_proof is null`, [
    txId,
  ]);
const reissue = async (txId: string, attempt: number) => {
  const prepared = await fixture.onChain.prepareAttempt({ txId, attempt, kind: 'reissue' });
  return fixture.ledger.beginSigning({ txId, lastAttempt: attempt - 1, kind: 'reissue', prepared });
};

describe('the newest attempt is not signed yet', () => {
  test('as long as its bytes have not expired it gets an order that ends with them', async () => {
    const txId = await pay();
    const begun = await beginFirst(txId, 60_000);
    expect(begun).toMatchObject({ outcome: 'begun', attempt: 1, endsWithBytes: true });
    expect(await resume(txId)).toMatchObject({ outcome: 'begun', attempt: 1 });
  });

  test('afterwards nothing more is ordered of it, and nothing is unlocked', async () => {
    const txId = await pay();
    await beginFirst(txId, 1_000);
    await whenOver(1_000);
    const before = await fixture.transaction(txId);
    expect(await resume(txId)).toMatchObject({ outcome: 'refused', code: 'expired' });
    expect(await orders(txId)).toBe(1);
    expect(await fixture.transaction(txId)).toEqual(before);
    expect(before).toMatchObject({ status: 'SIGNING' });
    expect(await reissue(txId, 2)).toMatchObject({ outcome: 'refused' });
    // the worker has a proof
    await disprove(txId);
    expect(await reissue(txId, 2)).toMatchObject({ outcome: 'begun', attempt: 2, kind: 'reissue' });
  });

  test('signed before it has expired, it is sent: what becomes of it is for the chain to say', async () => {
    const txId = await pay();
    const begun = await beginFirst(txId, 1_000);
    if (begun.outcome !== 'begun') throw new Error(begun.outcome);
    const signatures = fixture.signatures(begun.unsigned, fixture.alice.address);
    await fixture.ledger.recordSigned({ txId, attempt: 1, signatures });
    await whenOver(1_000);
    expect(await resume(txId)).toMatchObject({ outcome: 'signed', attempt: 1 });
  });
});

test('bytes that could be executed for hours are not begun, nor those that another transfer has', async () => {
  const [one, other] = [await pay(), await pay()];
  const prepared = await fixture.onChain.prepareAttempt({ txId: one, attempt: 1, kind: 'first' });
  const begin = (txId: string, changes: object = {}) =>
    fixture.ledger.beginSigning({ txId, lastAttempt: 0, kind: 'first', prepared: { ...prepared, ...changes } });
  const expiry = { expiration: Date.now() + 2 * 3_600_000 };
  expect(await begin(one, { expiry })).toMatchObject({ outcome: 'wait', reason: expect.stringContaining('too long') });
  expect(await begin(one)).toMatchObject({ outcome: 'begun' });
  expect(await begin(other)).toMatchObject({ outcome: 'wait', reason: expect.stringContaining('the same message') });
  expect(await fixture.transaction(other)).toMatchObject({ status: 'PENDING' });
});

test('a reissue names every earlier attempt with its bytes, and after so many the transfer ends', async () => {
  const txId = await pay();
  const first = await beginFirst(txId, 60_000);
  if (first.outcome !== 'begun') throw new Error(first.outcome);
  await disprove(txId);
  for (let attempt = 2; attempt <= maxReissuedAttempts; attempt += 1) {
    const begun = await reissue(txId, attempt);
    if (begun.outcome !== 'begun') throw new Error(JSON.stringify(begun));
    const claims = claimsOf<Extract<SigningClaims, { kind: 'reissue' }>>(begun.order);
    expect(claims.earlier.map((earlier) => earlier.attempt)).toEqual(Array.from({ length: attempt - 1 }, (_, at) => at + 1));
    expect(claims.earlier[0]).toMatchObject({ unsigned: first.unsigned });
    await disprove(txId);
  }
  await expect(reissue(txId, maxReissuedAttempts + 1)).rejects.toMatchObject({ code: 'expired', retryable: false });
  expect(await fixture.ledger.failByProof({ txId })).toMatchObject({ status: 'FAILED' });
  expect((await fixture.transaction(txId)).failure_code).toBe('expired');
});

// the last one: the token does nothing afterwards
test('what the chain refuses ends a transfer of which everything is proven impossible, and no other', async () => {
  const { alice, bob, simulated, onChain, ledger } = fixture;
  await fixture.send(alice, 5_000_000n, 'USDT');
  await fixture.mine(fixture.chain.confirmations);
  await fixture.follow();
  const txId = await fixture.transfer({ tokenSymbol: 'USDT', amount: '5', toAddress: bob.address });
  expect(await beginFirst(txId, 60_000)).toMatchObject({ outcome: 'begun' });
  // reverts whatever is asked of it
  await simulated.control('contract', { address: usdt, code: '60006000fd' });
  const next = { txId, attempt: 2, kind: 'reissue' } as const;
  await expect(onChain.prepareAttempt(next)).rejects.toMatchObject({ code: 'would_revert' });
  await expect(ledger.failByProof({ txId })).rejects.toMatchObject({ code: 'not_cancellable' });
  await disprove(txId);
  await expect(ledger.failByProof({ txId })).rejects.toMatchObject({ code: 'not_cancellable' });
  await expect(onChain.prepareAttempt(next)).rejects.toMatchObject({ code: 'would_revert' });
  expect(await ledger.failByProof({ txId })).toMatchObject({ status: 'FAILED', code: 'would_revert' });
});
