import { createChainActivities } from '../../../activities/chain';
import type { ChainClient } from '../../../src/chains/chain-client';
import { storeForeignTransactions } from '../../../src/chains/foreign-transactions';
import { storeInclusion } from '../../../src/following/inclusions';
import { moveCursor, storeBlocks } from '../../../src/following/store';
import { createToyFixture, type ToyFixture } from '../../toy-chain/fixture';
import { sum } from '../../toy-chain/message';

let fixture: ToyFixture;
beforeEach(async () => {
  fixture = await createToyFixture();
});
afterEach(() => fixture.close());

/** A transfer whose first attempt is in the newest block, which nobody has read yet. */
async function mined(): Promise<{ txId: string; block: number }> {
  const { transfer, sign, onChain, toy, outside } = fixture;
  const txId = await transfer({ tokenSymbol: 'TOY', amount: '10', toAddress: outside });
  await sign(txId, 1);
  await onChain.broadcast({ txId, attempt: 1 });
  toy.mine();
  return { txId, block: toy.height };
}

const storedBlock = async (txId: string) => (await fixture.attempts(txId))[0]?.block_number;

test('an inclusion that was read before a reorganisation is not stored while the follower stores another block', async () => {
  const { database, chain, onChain, client } = fixture;
  const { txId, block } = await mined();
  const follower = database.createQueryRunner();
  await follower.startTransaction();
  expect(await moveCursor(follower.manager, chain.name, block, block + 1)).toEqual({ agreedTo: null });
  const other = { number: block, hash: 'another', parentHash: 'p', transactions: [], deposits: [] };
  await storeBlocks(follower.manager, chain.name, [other], 0);
  const observed = onChain.observe({ txId });
  await new Promise((resolve) => setTimeout(resolve, 500));
  await follower.commitTransaction();
  await follower.release();
  expect(await client.head()).toEqual({ number: block });
  expect(await observed).toMatchObject({ state: 'absent' });
  expect(await storedBlock(txId)).toBeNull();
});

test('an inclusion that was left behind below the scanned range is cleared with the next range', async () => {
  const { database, toy, follow } = fixture;
  const { txId, block } = await mined();
  toy.mine();
  await follow();
  await database.query(`update transfer_attempts set block_hash = 'gone' where tx_id = $1`, [txId]);
  toy.mine();
  await follow();
  expect(await storedBlock(txId)).toBeNull();
  expect(fixture.signals.at(-1)).toMatchObject({ txId, observation: { state: 'absent' } });
  expect(block).toBeLessThan(toy.height - 1);
});

test('a position that no reservation can have is not noted, and does not stop the chain', async () => {
  const { database, chain } = fixture;
  const transactions = [2n ** 64n - 1n, 2n ** 63n, 2n ** 63n - 1n].map((ordinal) => ({
    ...{ id: `of ${ordinal}`, messageKey: null, position: { owner: 'somebody', ordinal } },
  }));
  await storeForeignTransactions(database.manager, chain.name, [
    { number: 1, hash: 'h', parentHash: 'p', deposits: [], transactions },
  ]);
  expect(await database.query('select ordinal from foreign_transactions')).toEqual([{ ordinal: `${2n ** 63n - 1n}` }]);
});

test('what a block has been seen to move stays when it is read again without that; of another block nothing stays', async () => {
  const { database } = fixture;
  const { txId, block } = await mined();
  const store = async (blockHash: string, moved: bigint | null) => {
    const effect = { blockNumber: block, blockHash, success: true, fee: 1n, debited: moved, received: moved };
    await storeInclusion(database.manager, { txId, attempt: 1, id: 'x' }, effect);
    const [attempt] = await fixture.attempts(txId);
    return [attempt?.debited, attempt?.received];
  };
  expect(await store('one', null)).toEqual([null, null]);
  expect(await store('one', 10n)).toEqual(['10', '10']);
  expect(await store('one', null)).toEqual(['10', '10']);
  expect(await store('one', 9n)).toEqual(['10', '10']);
  expect(await store('one', 11n)).toEqual(['11', '11']);
  expect(await store('other', null)).toEqual([null, null]);
});

test('that all endpoints agree is forgotten once the same block is read with another fee', async () => {
  const { database } = fixture;
  const { txId, block } = await mined();
  const store = async (fee: bigint, agreedBy?: number) => {
    const effect = { blockNumber: block, blockHash: 'one', success: false, fee, debited: null, received: null };
    await storeInclusion(database.manager, { txId, attempt: 1, id: 'x' }, effect, agreedBy);
    return (await fixture.attempts(txId))[0]?.agreed_by;
  };
  expect(await store(1n, 2)).toBe(2);
  expect(await store(1n)).toBe(2);
  expect(await store(2n)).toBeNull();
});

test('the confirmations of a transfer are those it was accepted with', async () => {
  const { chain, client, options, onChain, ledger, toy, follow } = fixture;
  const { txId } = await mined();
  const changed = { ...chain, confirmations: chain.confirmations - 1 };
  const hasty = Object.create(client, { chain: { value: changed } }) as ChainClient;
  const later = createChainActivities({ ...options, clients: new Map([[chain.name, hasty]]) });
  expect(await later.observe({ txId })).toMatchObject({ state: 'included', confirmations: 1 });
  await follow();
  expect(await ledger.settleTransfer({ txId })).toMatchObject({ status: 'WAITING' });
  toy.mine();
  expect(await onChain.observe({ txId })).toMatchObject({ state: 'confirmed', confirmations: 2 });
  // what a node calls its head does not count before the follower has scanned it
  expect(await ledger.settleTransfer({ txId })).toMatchObject({ status: 'WAITING' });
  await follow();
  expect(await ledger.settleTransfer({ txId })).toMatchObject({ status: 'CONFIRMED' });
});

test('a transaction that carries out two attempts includes both, each with its own effect, whichever of them has its id on record', async () => {
  const { database, transfer, sign, attempts, toy, client, outside } = fixture;
  const txIds: string[] = [];
  for (const amount of ['10', '20']) {
    const txId = await transfer({ tokenSymbol: 'TOY', amount, toAddress: outside });
    await sign(txId, 1);
    txIds.push(txId);
  }
  const keys = (await Promise.all(txIds.map(attempts))).map(([attempt]) => attempt?.message_key as string);
  await database.query(
    `insert into attempt_ids (chain, id, tx_id, attempt) select chain, 'both', tx_id, attempt from transfer_attempts where tx_id = $1`,
    [txIds[0]],
  );
  toy.mine();
  const scan: ChainClient['scan'] = async (...range) => {
    const { blocks, scannedTo } = await client.scan(...range);
    const transactions = keys.map((messageKey) => ({ id: 'both', messageKey }));
    return { blocks: blocks.map((block) => ({ ...block, transactions })), scannedTo };
  };
  const effects: ChainClient['effects'] = (items) => {
    const block = { blockNumber: toy.height, blockHash: toy.tip.hash, success: true, fee: 10n };
    const moved = items.map(({ id, intent }) => [id, sum(intent.outputs)] as const);
    return Promise.resolve(new Map(moved.map(([id, paid]) => [id, { ...block, debited: paid, received: paid }])));
  };
  await fixture.follow({ client: Object.create(client, { scan: { value: scan }, effects: { value: effects } }) as ChainClient });
  const included = (await Promise.all(txIds.map(attempts))).map(([attempt]) => [attempt?.included_id, attempt?.debited]);
  expect(included).toEqual([
    ['both', '10000'],
    ['both', '20000'],
  ]);
});
