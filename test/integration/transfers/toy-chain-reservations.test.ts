import type { AttemptKind } from '../../../src/chains/types';
import { lifeBlocks } from '../../toy-chain/client';
import { createToyFixture, type ToyFixture } from '../../toy-chain/fixture';
import { refuseAttempt } from '../../refusals';

/** Reservations of a family without nonces, step by step; whole transfers are in toy-chain.test.ts. */

let fixture: ToyFixture;
beforeEach(async () => {
  fixture = await createToyFixture({ stuckAfterMs: 0 });
});
afterEach(() => fixture.close());

/** Alice has outputs of 100 and 50 TOY; the first attempt's fee is 0.01, with which this leaves 0.005 of the first. */
const transfer = (amount = '99.985') => fixture.transfer({ tokenSymbol: 'TOY', amount, toAddress: fixture.outside });

async function begin(txId: string, attempt: number, kind: AttemptKind) {
  const prepared = await fixture.onChain.prepareAttempt({ txId, attempt, kind });
  return fixture.ledger.beginAttempt({ txId, attempt, kind, prepared });
}

const proven = async (txId: string) => (await fixture.attempts(txId)).map(({ impossible_proof: proof }) => proof !== null);
const held = async (txId: string) => (await fixture.reservations(txId)).map(({ isHeld }) => isHeld);

test('both owners of the inputs sign, each with its own path', async () => {
  const txId = await transfer();
  await fixture.sign(txId, 1);
  await fixture.expectBothSign(txId);
});

test('a replacement uses what the attempt before it uses, and an input more', async () => {
  const txId = await transfer();
  await fixture.sign(txId, 1);
  await fixture.sign(txId, 2);
  expect((await fixture.reservations(txId)).map(({ attempts }) => attempts)).toEqual([[1, 2], [1, 2], [2]]);
});

test('a repeated call returns the same attempt, and nothing more is reserved', async () => {
  const txId = await transfer();
  const first = await begin(txId, 1, 'first');
  fixture.toy.mine();
  expect(await begin(txId, 1, 'first')).toEqual(first);
  expect(await fixture.reservations(txId)).toHaveLength(2);
});

test('inputs that another transfer holds are waited for', async () => {
  const [first, second] = [await transfer('70'), await transfer('60')];
  await fixture.sign(first, 1);
  expect(await begin(second, 1, 'first')).toMatchObject({ outcome: 'wait' });
  expect(await fixture.transaction(second)).toMatchObject({ status: 'PENDING', signing_begun_at: null });
  expect(await fixture.reservations(second)).toEqual([]);
});

test('two transfers that begin at once do not spend the same input', async () => {
  const ids = [await transfer('40'), await transfer('40')];
  await Promise.all(ids.map((txId) => fixture.sign(txId, 1)));
  const taken = (await Promise.all(ids.map(fixture.reservations))).flat().map(({ resource }) => resource);
  expect(new Set(taken).size).toBe(4);
});

test('no attempt can be added that could be executed beside an earlier one', async () => {
  const txId = await transfer();
  await fixture.sign(txId, 1);
  const added = fixture.database.query(
    `insert into transfer_attempts (tx_id, attempt, kind, chain, prepared, unsigned, signers, message_key, fee_bound)
     select tx_id, 2, 'replacement', chain, prepared, unsigned, signers, 'another', fee_bound from transfer_attempts where tx_id = $1`,
    [txId],
  );
  await expect(added).rejects.toThrow('could be executed beside an earlier one');
});

test.each(['the follower', 'asking the chain'])('an attempt executed under an id never seen is recognised by %s', async (way) => {
  const txId = await transfer();
  await fixture.sign(txId, 1);
  const [attempt] = await fixture.attempts(txId);
  const peers = fixture.signOnceMore(attempt);
  fixture.toy.accept(peers.bytes);
  fixture.toy.mine();
  if (way === 'the follower') await fixture.follow();
  else expect(await fixture.onChain.observe({ txId })).toMatchObject({ state: 'included', hash: peers.id });
  expect((await fixture.attempts(txId))[0]).toMatchObject({ included_id: peers.id, success: true });
  const ids = await fixture.database.query<{ id: string }[]>('select id from attempt_ids where tx_id = $1', [txId]);
  expect(ids.map(({ id }) => id).sort()).toEqual([peers.id, attempt?.tx_hash].sort());
});

test('no reissue while one of the attempts has no proof', async () => {
  const txId = await transfer();
  await fixture.sign(txId, 1);
  fixture.toy.mine(fixture.chain.finalityDepth);
  await fixture.sign(txId, 2);
  fixture.toy.mine(lifeBlocks);
  expect((await fixture.onChain.observe({ txId })).state).not.toBe('impossible');
  expect(await proven(txId)).toEqual([true, false]);
  expect(await begin(txId, 3, 'reissue')).toMatchObject({ outcome: 'refused' });
  fixture.toy.mine(fixture.chain.finalityDepth);
  expect((await fixture.onChain.observe({ txId })).state).toBe('impossible');
  expect(await begin(txId, 3, 'reissue')).toMatchObject({ outcome: 'begun' });
  expect(await held(txId)).toEqual([false, false, false, true, true]);
});

test('nothing is unlocked or released while one of the attempts has no proof', async () => {
  const txId = await transfer();
  await fixture.sign(txId, 1);
  const failByProof = () => fixture.ledger.failByProof({ txId });
  await refuseAttempt(fixture.database, { txId, attempt: 2 }, { code: 'expired' });
  await expect(failByProof()).rejects.toThrow();
  await expect(fixture.setFailed(txId)).rejects.toThrow('a proof for every attempt');
  for (const { id } of await fixture.reservations(txId)) await expect(fixture.release(id)).rejects.toThrow('may still be used');
  fixture.toy.mine(lifeBlocks + fixture.chain.finalityDepth);
  expect((await fixture.onChain.observe({ txId })).state).toBe('impossible');
  expect(await failByProof()).toMatchObject({ status: 'FAILED', code: 'expired' });
  expect(await held(txId)).toEqual([false, false]);
  expect(await fixture.balance(fixture.alice, 'TOY')).toEqual({ available: 150_000n, locked: 0n });
});
