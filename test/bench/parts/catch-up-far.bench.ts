import { readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { getFamily } from '../../../src/chains/families';
import { getChains } from '../../../src/chains/registry/data';
import { SolanaChainClient } from '../../../src/chains/solana/client';
import { createBitcoinFixture } from '../../integration/bitcoin/fixture';
import { type ChainFixture, createChainFixture } from '../../integration/following/chain-fixture';
import { createSolanaFixture } from '../../integration/solana/fixture';
import { createTronFixture } from '../../integration/tron/fixture';
import { solanaChain } from '../../solana';
import { busy, startBusyNode } from '../busy-solana-node';
import { delayedRpc } from '../delayed-rpc';
import { percentiles, round } from '../load';

/**
 * How many times faster than the chain makes them blocks of a node that is `awayMs` away are scanned, stored and credited, while transfers are
 * prepared by the same client, as in a worker. Chain, follower and Postgres are on the same machine. The baseline: the same blocks, asked for one
 * after another, without anything being done with them.
 */

const awayMs = 50;
/** Blocks that the baseline asks for. */
const asked = 60;

const blockTimeOf = (name: string): number => getChains('production').find((chain) => chain.name === name)?.blockTimeMs as number;

interface Behind {
  fixture: ChainFixture;
  blocks: number;
  deposits: number;
  /** One block as the node shows it, beside the follower's client. */
  fetchBlock: (index: number) => Promise<unknown>;
  amount: bigint;
}

async function measure(
  { fixture, blocks, deposits, fetchBlock, amount }: Behind,
  more: () => Promise<object> = () => Promise.resolve({}),
) {
  const { alice, bob, chain, client, database, follow } = fixture;
  const intent = { from: alice.address, outputs: [{ recipient: bob.address, tokenContract: null, amount }] };
  const askUntil = async (isDone: () => boolean): Promise<number[]> => {
    const took: number[] = [];
    while (!isDone()) {
      const began = performance.now();
      await client.prepare({ kind: 'first', intent, previous: [] });
      took.push(performance.now() - began);
      await delay(20);
    }
    return took;
  };
  const end = performance.now() + 3_000;
  const alone = await askUntil(() => performance.now() > end);

  const factor = (count: number, ms: number) => round((count / ms) * blockTimeOf(chain.name));
  const serialBegan = performance.now();
  for (let index = 0; index < asked; index += 1) await fetchBlock(index);
  const serialMs = performance.now() - serialBegan;

  let isDone = false;
  const beside = askUntil(() => isDone);
  const began = performance.now();
  await follow({ sliceMs: 300_000 });
  const ms = performance.now() - began;
  isDone = true;
  const took = await beside;

  const [row] = await database.query<{ count: number }[]>(
    `select count(*)::int as count from transactions where direction = 'in' and status = 'CONFIRMED'`,
  );
  expect(row?.count).toBeGreaterThanOrEqual(deposits);
  process.stdout.write(
    `${JSON.stringify({
      ...{ bench: 'catch up from afar', chain: chain.name, away_ms: awayMs, blocks, deposits, seconds: round(ms / 1_000) },
      ...{ blocks_per_second: round((blocks * 1_000) / ms), times_real_time: factor(blocks, ms) },
      ...{ baseline_one_after_another: factor(asked, serialMs) },
      ...{ prepare_ms: percentiles(took), prepare_ms_without_scan: percentiles(alone), prepares: took.length },
      ...(await more()),
    })}\n`,
  );
}

const post = async (url: string, body: object): Promise<unknown> =>
  (await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })).json();

/** Of the JSON-RPC of Solana. */
const solanaBlock = (url: string, slot: number): Promise<unknown> => {
  const options = { encoding: 'base64', transactionDetails: 'full', maxSupportedTransactionVersion: 1, rewards: false };
  return post(url, { jsonrpc: '2.0', id: 1, method: 'getBlock', params: [slot, { commitment: 'finalized', ...options }] });
};

test('solana, ten minutes behind', async () => {
  const [rounds, every] = [150, 10];
  let url = '';
  const fixture = await createSolanaFixture({ route: (node) => Promise.resolve((url = `${node}/endpoint/far`)) });
  try {
    const { alice, follow, local, mine, send } = fixture;
    await send(alice, 10n ** 9n);
    await mine();
    await follow();
    const { slot: first } = await local.status();
    for (let round = 0; round < rounds; round += 1) {
      await send(alice, 1_000_000n);
      await local.call('mine', { blocks: every - 1 });
    }
    await mine();
    await local.call('endpoint', { name: 'far', slowMs: awayMs });
    const requests = async () =>
      (await local.call<{ faults: { requests: Record<string, number> } }>('status')).faults.requests.far as number;
    const before = await requests();
    await measure(
      {
        ...{ fixture, blocks: rounds * every, deposits: rounds, amount: 1_000_000n },
        fetchBlock: (index) => solanaBlock(url, first + 1 + index),
      },
      async () => ({ requests_of_all: (await requests()) - before }),
    );
  } finally {
    await fixture.close();
  }
}, 600_000);

/** Processor time of the main thread, in ms: the first number is in ns. */
const mainThreadMs = (): number => Number(readFileSync('/proc/self/schedstat', 'utf8').split(' ')[0]) / 1e6;

test('solana, with busy blocks', async () => {
  const count = 100;
  const node = await startBusyNode(count, awayMs);
  const client = new SolanaChainClient(solanaChain, [`${node.url}?rate=1000`]);
  const fixture = await createChainFixture({ client, getFamily, symbols: ['SOL'] });
  try {
    const { chain, follow } = fixture;
    await follow();
    const began = performance.now();
    for (let index = 1; index <= 20; index += 1) await solanaBlock(node.url, 100 + index);
    const serialMs = performance.now() - began;
    node.grow();
    const [cpu, main] = [process.cpuUsage(), mainThreadMs()];
    const from = performance.now();
    await follow({ sliceMs: 300_000 });
    const ms = performance.now() - from;
    const [cursor] = await fixture.database.query<{ next_block: string }[]>('select next_block from chain_cursors');
    expect(Number(cursor?.next_block)).toBe(node.head() + 1);
    const { user, system } = process.cpuUsage(cpu);
    const ofMain = mainThreadMs() - main;
    const factor = (blocks: number, took: number) => round((blocks / took) * blockTimeOf(chain.name));
    process.stdout.write(
      `${JSON.stringify({
        ...{ bench: 'catch up, busy blocks', chain: chain.name, away_ms: awayMs, blocks: count, ...busy, ...node.sizes },
        ...{ blocks_per_second: round((count * 1_000) / ms), times_real_time: factor(count, ms) },
        ...{ baseline_one_after_another: factor(20, serialMs), cpu_ms_a_block: round((user + system) / 1_000 / count) },
        ...{ main_thread_cpu_ms_a_block: round(ofMain / count), load: round(loadavg()[0] as number) },
        rss_mb: Math.round(process.memoryUsage().rss / 2 ** 20),
      })}\n`,
    );
  } finally {
    await fixture.close();
    node.close();
  }
}, 600_000);

test('tron, twenty minutes behind', async () => {
  const blocks = 400;
  let url = '';
  const fixture = await createTronFixture({ route: (node) => Promise.resolve((url = `${node}/endpoint/far`)) });
  try {
    const { alice, follow, mine, send, simulated } = fixture;
    await send(alice, 10n ** 9n);
    await mine();
    await follow();
    const { head: first } = await simulated.control('status');
    // each makes a block, with a transaction of a contract: it has receipts
    for (let made = 0; made < blocks; made += 1) await send(alice, 5n, 'USDT');
    await mine();
    await simulated.control('endpoint', { name: 'far', slowMs: awayMs });
    await measure({
      ...{ fixture, blocks, deposits: blocks, amount: 1_000_000n },
      fetchBlock: (index) => post(`${url}/walletsolidity/getblock`, { id_or_num: String(first + 1 + index), detail: true }),
    });
  } finally {
    await fixture.close();
  }
}, 600_000);

test('bitcoin, two days behind', async () => {
  const [rounds, every] = [30, 10];
  let away: Awaited<ReturnType<typeof delayedRpc>> | undefined;
  const fixture = await createBitcoinFixture({}, async (node) => (away = await delayedRpc(node, awayMs)).url);
  const { url = '' } = away ?? {};
  try {
    const { alice, follow, fund, mine, node } = fixture;
    await fund(alice, [10n ** 8n]);
    await follow();
    const { number: first } = await fixture.client.head();
    for (let round = 0; round < rounds; round += 1) {
      await node.send(alice.address, 1_000_000n);
      await mine(every);
    }
    const target = new URL(url);
    const { username, password } = target;
    [target.username, target.password] = ['', ''];
    const call = async (method: string, params: unknown[]): Promise<{ result: unknown }> => {
      const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
      const response = await fetch(target, {
        ...{ method: 'POST', headers: { authorization, 'content-type': 'application/json' } },
        body: JSON.stringify({ jsonrpc: '1.0', id: 1, method, params }),
      });
      return (await response.json()) as { result: unknown };
    };
    await measure({
      ...{ fixture, blocks: rounds * every, deposits: rounds - 1, amount: 1_000_000n },
      fetchBlock: async (index) => {
        const { result } = await call('getblockhash', [first + 1 + index]);
        return call('getblock', [result, 0]);
      },
    });
  } finally {
    await fixture.close();
    away?.close();
  }
}, 600_000);
