import { PoolWatch } from '../../../src/following/pool-watch';
import { verifyLedger } from '../../../src/ledger/verify';
import { BitcoinChainClient } from '../../../src/chains/bitcoin/client';
import { describeWithBtcd } from '../../stack/btcd';
import { startEsplora } from './esplora-server';
import { type BitcoinFixture, createBitcoinFixture } from './fixture';
import { startBitcoinProxy } from './proxy';

const coin = 100_000_000n;

describeWithBtcd('deposits that no block holds', () => {
  let fixture: BitcoinFixture;
  const closed: (() => void)[] = [];
  beforeEach(async () => {
    fixture = await createBitcoinFixture();
    await fixture.follow();
  }, 60_000);
  afterEach(async () => {
    expect(await verifyLedger(fixture.database.manager)).toEqual([]);
    for (const close of closed.splice(0)) close();
    await fixture.close();
  });

  const watchAt = (client = fixture.client) => new PoolWatch(client.pool, { ...fixture.options, chain: fixture.chain });
  const poll = async (watch: PoolWatch, times: number) => {
    for (let step = 0; step < times; step += 1) await watch.step();
  };
  const stored = () =>
    fixture.database.query<{ tx_id: string; tx_hash: string; status: string; block_number: string | null; to_address: string }[]>(
      `select tx_id, tx_hash, status, block_number, to_address from transactions where direction = 'in' order by tx_id`,
    );
  const statuses = async () => (await stored()).map(({ tx_hash: hash, status }) => [hash, status]);

  test('are shown, are in no balance, and the same row is credited once a block holds it', async () => {
    const { node, alice, mine, follow, balance } = fixture;
    const id = await node.send(alice.address, coin);
    const watch = watchAt();
    await poll(watch, 2);
    const [pending] = await stored();
    expect(await stored()).toEqual([
      { tx_id: pending?.tx_id, tx_hash: id, status: 'DETECTED', block_number: null, to_address: alice.address },
    ]);
    expect(await balance(alice, 'BTC')).toEqual({ available: 0n, locked: 0n });
    await mine();
    // the pool has it no more, and the follower has not read the block yet
    await poll(watch, 5);
    expect(await statuses()).toEqual([[id, 'DETECTED']]);
    await follow();
    expect(await stored()).toEqual([{ ...pending, block_number: String(await node.height()) }]);
    await mine(fixture.chain.confirmations - 1);
    await follow();
    expect(await stored()).toMatchObject([{ tx_id: pending?.tx_id, status: 'CONFIRMED' }]);
    expect(await balance(alice, 'BTC')).toEqual({ available: coin, locked: 0n });
  });

  test('are found by the follower beside the blocks, and stay as they are when a block came first', async () => {
    const { node, alice, mine, follow } = fixture;
    const inBlock = await node.fund(alice.address, coin);
    const pending = await node.send(alice.address, coin);
    await follow();
    const blocks = async () => new Map((await stored()).map(({ tx_hash: hash, block_number: block }) => [hash, block]));
    expect(await blocks()).toEqual(
      new Map([
        [inBlock, String(await node.height())],
        [pending, null],
      ]),
    );
    const ids = (await stored()).map(({ tx_id: txId }) => txId);
    await mine(2);
    await follow();
    expect((await stored()).map(({ status }) => status)).toEqual(['CONFIRMED', 'CONFIRMED']);
    expect((await stored()).map(({ tx_id: txId }) => txId).sort()).toEqual(ids.sort());
  });

  test('end when they are replaced, and what replaces them is another deposit', async () => {
    const { node, alice, bob, mine, follow } = fixture;
    const watch = watchAt();
    const first = await node.send(alice.address, coin);
    await poll(watch, 1);
    const second = await node.replace(first, bob.address, coin);
    await poll(watch, 2);
    expect(await statuses()).toEqual([
      [first, 'DETECTED'],
      [second, 'DETECTED'],
    ]);
    await poll(watch, 1);
    expect(await statuses()).toEqual([
      [first, 'ORPHANED'],
      [second, 'DETECTED'],
    ]);
    await mine(fixture.chain.confirmations);
    await follow();
    expect(await statuses()).toEqual([
      [first, 'ORPHANED'],
      [second, 'CONFIRMED'],
    ]);
    expect(await fixture.balance(alice, 'BTC')).toEqual({ available: 0n, locked: 0n });
  });

  test('that a reorganisation takes out of their block wait again, as a new deposit', async () => {
    const { node, alice, mine, follow } = fixture;
    const id = await node.fund(alice.address, coin);
    await follow();
    await node.invalidate(await node.height());
    await mine(0);
    // the chain is shorter by a block: the follower rolls back when it sees another one
    await poll(watchAt(), 1);
    expect(await statuses()).toEqual([[id, 'DETECTED']]);
    await mine(2);
    await follow();
    expect(await statuses()).toEqual([
      [id, 'ORPHANED'],
      [id, 'CONFIRMED'],
    ]);
  });

  test('are none: change to the same account, and amounts that are not worth spending', async () => {
    const { node, alice, fund, pay, sign, send, follow } = fixture;
    await fund(alice, [coin]);
    await node.send(alice.address, 293n);
    const txId = await pay('0.3');
    await sign(txId, 1);
    await send(txId, 1);
    await follow();
    await poll(watchAt(), 1);
    expect((await stored()).filter(({ block_number: block }) => block === null)).toEqual([]);
    await node.send(alice.address, 294n);
    await poll(watchAt(), 1);
    expect((await stored()).filter(({ block_number: block }) => block === null)).toHaveLength(1);
  });

  test('are seen over Esplora as over JSON-RPC', async () => {
    const { node, alice, btcd, client } = fixture;
    const id = await node.send(alice.address, coin);
    const server = await startEsplora(btcd.url);
    closed.push(server.close);
    const esplora = new BitcoinChainClient(fixture.chain, [server.url]).pool;
    const isOurs = (keys: string[]) => Promise.resolve(new Set(keys.filter((key) => key === alice.addressKey)));
    expect(await esplora.ids()).toEqual([id]);
    expect(await esplora.deposits([id, 'ab'.repeat(32)], isOurs)).toEqual(await client.pool.deposits([id], isOurs));
    expect(await esplora.findGone([id, 'ab'.repeat(32)])).toEqual(['ab'.repeat(32)]);
  });

  test('a pool that cannot be read, or is none, stops nothing', async () => {
    const { node, alice, btcd, follow } = fixture;
    const proxy = await startBitcoinProxy(btcd.url, { getrawmempool: () => ['no hash'] });
    closed.push(proxy.close);
    const client = new BitcoinChainClient(fixture.chain, [proxy.url]);
    await expect(client.pool.ids()).rejects.toMatchObject({ code: 'chain_unavailable' });
    const id = await node.fund(alice.address, coin);
    await follow({ client });
    expect(await statuses()).toEqual([[id, 'DETECTED']]);
    expect(proxy.seen.some(({ method }) => method === 'getrawmempool')).toBe(true);
  });
});
