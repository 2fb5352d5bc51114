import { parseEther } from 'viem';
import { EvmChainClient } from '../../../src/chains/evm/client';
import { getChains } from '../../../src/chains/registry/data';
import { createFollowFixture, type FollowFixture } from '../../integration/following/fixture';
import { rich } from '../../integration/chains/anvil';
import { delayedRpc } from '../delayed-rpc';
import { mineFullBlocks } from '../full-blocks';
import { percentiles, round } from '../load';

/**
 * Blocks with transactions, and transactions in each: a tenth of them deposits; blocks without, before them; and how far the follower's node is
 * away.
 */
const loads = [
  { fullBlocks: 300, perBlock: 20, emptyBlocks: 2_000, awayMs: 0 },
  { fullBlocks: 100, perBlock: 200, emptyBlocks: 0, awayMs: 0 },
  { fullBlocks: 100, perBlock: 200, emptyBlocks: 0, awayMs: 50 },
];
/** Questions that transfers ask beside the scan, at a time. */
const inFlight = 10;

/** Real times between two blocks, ms. */
const blockTimes = Object.fromEntries(
  getChains('production')
    .filter(({ family }) => family === 'evm')
    .map(({ name, blockTimeMs }) => [name, blockTimeMs]),
);

let close: () => Promise<void>;
afterEach(() => close());

async function createFixture(awayMs: number): Promise<FollowFixture> {
  let away: Awaited<ReturnType<typeof delayedRpc>> | undefined;
  const fixture = await createFollowFixture({}, async (url) => (awayMs === 0 ? url : (away = await delayedRpc(url, awayMs)).url));
  close = async () => {
    await fixture.close();
    away?.close();
  };
  return fixture;
}

/**
 * How many times faster than the chain makes them blocks are scanned, stored and credited, while transfers ask the same node: the follower's
 * client and theirs are apart, as in a worker. The node is on the same machine, and transfers ask it there.
 */
test.each(loads)(
  'a follower that is behind, while transfers go on: %j',
  async ({ fullBlocks, perBlock, emptyBlocks, awayMs }) => {
    const observed = {
      ...{ blocks: fullBlocks + emptyBlocks, full: fullBlocks, transactions_a_full_block: perBlock },
      away_ms: awayMs,
    };
    const fixture = await createFixture(awayMs);
    const { anvil, bob, chain, follow, mine, database } = fixture;
    await mine();
    await follow();
    for (let mined = 0; mined < emptyBlocks; mined += 100) await mine(100);
    await mineFullBlocks(fixture, { blocks: fullBlocks, perBlock });

    const transfers = new EvmChainClient(chain, [anvil.url]);
    const intent = {
      from: rich[0].address,
      outputs: [{ recipient: bob.address, tokenContract: null, amount: parseEther('0.1') }],
    };
    const ask = async (): Promise<number> => {
      const began = performance.now();
      await transfers.prepare({ kind: 'first', intent, previous: [] });
      return performance.now() - began;
    };
    const asking = async (until: () => boolean): Promise<number[]> => {
      const took: number[] = [];
      while (!until()) took.push(await ask());
      return took;
    };
    const askAll = async (until: () => boolean) =>
      (await Promise.all(Array.from({ length: inFlight }, () => asking(until)))).flat();
    const askFor = (ms: number) => {
      const end = performance.now() + ms;
      return askAll(() => performance.now() > end);
    };
    // what runs for the first time is slower
    await askFor(2_000);
    const alone = await askFor(3_000);

    let isDone = false;
    const beside = askAll(() => isDone);
    const began = performance.now();
    await follow({ sliceMs: 300_000 });
    const seconds = (performance.now() - began) / 1_000;
    isDone = true;
    const took = await beside;

    const [row] = await database.query<{ count: number }[]>(
      `select count(*)::int as count from transactions where direction = 'in' and status = 'CONFIRMED'`,
    );
    expect(row?.count).toBeGreaterThanOrEqual((fullBlocks * perBlock) / 10 - 2 * perBlock);
    const blocksPerSecond = observed.blocks / seconds;
    const factors = Object.fromEntries(
      Object.entries(blockTimes).map(([name, blockTimeMs]) => [name, round((blocksPerSecond * blockTimeMs) / 1_000)]),
    );
    process.stdout.write(
      `${JSON.stringify({
        ...{
          bench: 'catch up',
          ...observed,
          seconds: round(seconds),
          blocks_per_second: round(blocksPerSecond),
          times_real_time: factors,
        },
        ...{
          prepares_in_flight: inFlight,
          prepare_ms: percentiles(took),
          prepare_ms_without_scan: percentiles(alone),
          prepares: took.length,
        },
      })}\n`,
    );
    if (emptyBlocks > 0) for (const name of ['ethereum', 'polygon', 'base']) expect(factors[name]).toBeGreaterThanOrEqual(20);
  },
  600_000,
);
