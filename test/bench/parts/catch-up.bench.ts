import { loadavg } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { HDKey } from '@scure/bip32';
import { parseEther } from 'viem';
import { EvmChainClient } from '../../../src/chains/evm/client';
import { getFamily } from '../../../src/chains/families';
import { getChains } from '../../../src/chains/registry/data';
import { createChainFixture } from '../../integration/following/chain-fixture';
import { localChain, rich, startAnvil } from '../../integration/chains/anvil';
import { delayedRpc } from '../delayed-rpc';
import { mineFullBlocks } from '../full-blocks';
import { percentiles, round } from '../load';
import { findPostgres, processorMs } from '../postgres-processor';
import { startRecordedNode } from '../recorded-node';

interface Run {
  /** `recorded`: Anvil's answers, from a process that only repeats them, as a node of another machine does. */
  node: 'anvil' | 'recorded';
  /** How far the follower's node is away. Transfers ask the same node, which is not. */
  awayMs: number;
  /** Questions of transfers: so many a second, or so many at a time without a pause. */
  prepares: { aSecond: number } | { inFlight: number };
}

/** More than the stack carries out. */
const some = { aSecond: 10 };
/** All that the rest of a core answers. */
const many = { inFlight: 10 };

/** Blocks with transactions, and transactions in each; which of these are deposits; blocks without, before them. */
const loads: { fullBlocks: number; perBlock: number; depositEvery: number; emptyBlocks: number; runs: Run[] }[] = [
  {
    ...{ fullBlocks: 300, perBlock: 20, depositEvery: 10, emptyBlocks: 2_000 },
    runs: [{ node: 'anvil', awayMs: 0, prepares: many }],
  },
  {
    ...{ fullBlocks: 200, perBlock: 200, depositEvery: 100, emptyBlocks: 0 },
    runs: [
      { node: 'recorded', awayMs: 0, prepares: some },
      { node: 'recorded', awayMs: 50, prepares: some },
    ],
  },
  {
    ...{ fullBlocks: 200, perBlock: 200, depositEvery: 10, emptyBlocks: 0 },
    runs: [
      { node: 'recorded', awayMs: 0, prepares: some },
      { node: 'recorded', awayMs: 50, prepares: some },
      { node: 'recorded', awayMs: 0, prepares: many },
      { node: 'anvil', awayMs: 0, prepares: some },
      { node: 'anvil', awayMs: 50, prepares: some },
      { node: 'anvil', awayMs: 0, prepares: many },
    ],
  },
];

/** Real times between two blocks, ms. */
const blockTimes = Object.fromEntries(
  getChains('production')
    .filter(({ family }) => family === 'evm')
    .map(({ name, blockTimeMs }) => [name, blockTimeMs]),
);

/** The same in each database, so that the blocks pay its accounts. */
const key = HDKey.fromMasterSeed(new Uint8Array(32).fill(7));

const cleanUps: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

/**
 * How many times faster than the chain makes them blocks are scanned, stored and credited, while transfers ask the same node: the follower's
 * client and theirs are apart, as in a worker. Node, follower and Postgres are on the same machine.
 */
test.each(loads)(
  'a follower that is behind, while transfers go on: $fullBlocks blocks of $perBlock, one in $depositEvery a deposit, $emptyBlocks without transactions',
  async ({ fullBlocks, perBlock, depositEvery, emptyBlocks, runs }) => {
    const anvil = await startAnvil({ noMining: true });
    cleanUps.push(() => anvil.stop());
    const usdc = await anvil.deploy('TestUSDC');
    const chain = localChain('ethereum', { USDC: usdc });
    const mine = (blocks = 1) => anvil.client.mine({ blocks });
    const fixtureAt = (url: string) =>
      createChainFixture({ client: new EvmChainClient(chain, [url]), getFamily, symbols: ['ETH', 'USDC'], key });
    const { alice, bob, close } = await fixtureAt(anvil.url);
    await close();
    for (let mined = 0; mined < emptyBlocks; mined += 100) await mine(100);
    await mineFullBlocks({ anvil, alice, mine }, { blocks: fullBlocks, perBlock, depositEvery });
    const blocks = Number(await anvil.client.getBlockNumber()) + 1;

    const recorded = await startRecordedNode(anvil.url);
    cleanUps.push(() => recorded.stop());
    const away = await delayedRpc(anvil.url, 50);
    cleanUps.push(() => away.close());
    const anvilAt = (awayMs: number) => (awayMs === 0 ? anvil.url : away.url);
    const postgres = await findPostgres();
    const intent = {
      from: rich[0].address,
      outputs: [{ recipient: bob.address, tokenContract: null, amount: parseEther('0.1') }],
    };

    /** A database of its own that follows the chain from its first block. */
    const follow = async ({ node, awayMs, prepares }: Run) => {
      const fixture = await fixtureAt(node === 'anvil' ? anvilAt(awayMs) : recorded.urlAt(awayMs));
      const transfers = new EvmChainClient(chain, [node === 'anvil' ? anvil.url : recorded.urlAt(0)]);
      try {
        const askUntil = askingUntil(transfers, intent, prepares);
        // what runs for the first time is slower
        await askUntil(within(1_000));
        const alone = await askUntil(within(3_000));

        await recorded.asked();
        let isDone = false;
        const beside = askUntil(() => isDone);
        const [cpu, ofPostgres, began] = [process.cpuUsage(), processorMs(postgres), performance.now()];
        await fixture.follow({ sliceMs: 300_000 });
        const seconds = (performance.now() - began) / 1_000;
        const { user, system } = process.cpuUsage(cpu);
        const postgresMs = processorMs(postgres) - ofPostgres;
        isDone = true;
        const took = await beside;
        const asked = await recorded.asked();

        const [row] = await fixture.database.query<{ count: number }[]>(
          `select count(*)::int as count from transactions where direction = 'in' and status = 'CONFIRMED'`,
        );
        expect(row?.count).toBe(((fullBlocks - chain.confirmations + 1) * perBlock) / depositEvery);
        const factors = Object.fromEntries(
          Object.entries(blockTimes).map(([name, blockTimeMs]) => [name, round(((blocks / seconds) * blockTimeMs) / 1_000)]),
        );
        return { seconds, factors, took, alone, asked, processMs: (user + system) / 1_000, postgresMs };
      } finally {
        await fixture.close();
      }
    };

    if (runs.some(({ node }) => node === 'recorded')) await follow({ node: 'recorded', awayMs: 0, prepares: some });
    for (const run of runs) {
      const { seconds, factors, took, alone, asked, processMs, postgresMs } = await follow(run);
      process.stdout.write(
        `${JSON.stringify({
          ...{ bench: 'catch up', blocks, full: fullBlocks, transactions_a_full_block: perBlock, deposit_every: depositEvery },
          ...{ node: run.node, away_ms: run.awayMs, seconds: round(seconds), blocks_per_second: round(blocks / seconds) },
          times_real_time: factors,
          ...{ prepares: run.prepares, prepare_ms: percentiles(took), prepare_ms_without_scan: percentiles(alone) },
          ...{ prepares_per_second: round(took.length / seconds), load: round(loadavg()[0] as number) },
          // the second one with what transfers ask, too
          cpu_ms_a_block: { postgres: round(postgresMs / blocks), this_process: round(processMs / blocks) },
          ...(run.node === 'recorded' && { asked: { ...asked, processor_ms: round(asked.processor_ms) } }),
        })}\n`,
      );
      if (run.node === 'recorded') expect(asked.missed).toBe(0);
    }
  },
  900_000,
);

const within = (ms: number) => {
  const end = performance.now() + ms;
  return () => performance.now() > end;
};

/** How long each question took, ms. */
function askingUntil(
  client: EvmChainClient,
  intent: Parameters<EvmChainClient['prepare']>[0]['intent'],
  prepares: Run['prepares'],
): (isOver: () => boolean) => Promise<number[]> {
  const took: number[] = [];
  const ask = async () => {
    const began = performance.now();
    await client.prepare({ kind: 'first', intent, previous: [] });
    took.push(performance.now() - began);
  };
  const inTurns = async (isOver: () => boolean) => {
    while (!isOver()) await ask();
  };
  const paced = async (isOver: () => boolean, pauseMs: number) => {
    const asked: Promise<void>[] = [];
    for (; !isOver(); await delay(pauseMs)) asked.push(ask());
    await Promise.all(asked);
  };
  return async (isOver) => {
    took.length = 0;
    if ('aSecond' in prepares) await paced(isOver, 1_000 / prepares.aSecond);
    else await Promise.all(Array.from({ length: prepares.inFlight }, () => inTurns(isOver)));
    return [...took];
  };
}
