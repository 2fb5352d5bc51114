import { loadRegistry } from '../../../src/chains/registry';
import { getChains } from '../../../src/chains/registry/data';
import type { GatewayEnvironment } from '../../../src/chains/types';
import { PollBackoff } from '../../../workflows/transfer/poll-backoff';
import { estimatedForMs, patienceMs, reserveWaits } from '../../../workflows/transfer/waits';

const minute = 60_000;

test('a reservation is tried again by the block time of its chain: for an hour, or for 36 blocks', () => {
  expect(reserveWaits(12_000)).toEqual({ firstMs: 6_000, longestMs: 30_000, totalMs: 60 * minute });
  expect(reserveWaits(10 * minute)).toEqual({ firstMs: 30_000, longestMs: 5 * minute, totalMs: 360 * minute });
  expect(reserveWaits(100)).toMatchObject({ firstMs: 1_000, longestMs: 30_000 });
});

test('a chain is asked directly once the confirmation should be there, then after twice as long each time', () => {
  const polls = new PollBackoff();
  expect([polls.next(Infinity), polls.next(Infinity), polls.next(1_000)]).toEqual([15_000, 30_000, 1_000]);
  polls.adopt(12_000, 12);
  expect([polls.next(Infinity), polls.next(Infinity), polls.next(Infinity)]).toEqual([270_000, 540_000, 600_000]);
  polls.adopt(20 * minute, 2);
  expect(Array.from({ length: 3 }, () => polls.next(Infinity) / minute)).toEqual([150, 150, 150]);
  polls.reset();
  expect(polls.next(60 * minute)).toBe(60 * minute);
});

test('what no node has taken is sent again soon, however long a confirmation takes', () => {
  const polls = new PollBackoff();
  polls.adopt(12_000, 12);
  polls.hurry();
  expect(Array.from({ length: 6 }, () => polls.next(Infinity))).toEqual([1_000, 2_000, 4_000, 8_000, 15_000, 15_000]);
});

test('what no node takes for a passing reason is an operator’s after ten minutes at most, also where a block takes as long', () => {
  const { stuckAfterMs } = loadRegistry('production', ['bitcoin']).get('bitcoin');
  expect([undefined, 'view', 'unknown'].map((refused) => patienceMs(stuckAfterMs, refused as 'view' | 'unknown'))).toEqual([
    ...[60 * minute, 10 * minute, minute],
  ]);
  expect(patienceMs(30_000, 'view')).toBe(30_000);
  expect(patienceMs(30_000, 'unknown')).toBe(30_000);
});

test('a chain that does not say what an attempt would take is asked for minutes, also where a block takes as long', () => {
  const { stuckAfterMs } = loadRegistry('production', ['bitcoin']).get('bitcoin');
  expect([estimatedForMs(stuckAfterMs), estimatedForMs(30_000)]).toEqual([10 * minute, minute]);
});

describe.each<GatewayEnvironment>(['production', 'sandbox', 'local'])('on the chains of %s', (environment) => {
  test.each(getChains(environment))(
    '$name is not asked about a transfer before its confirmation, nor after more than its patience about one that no block holds',
    ({ blockTimeMs, headLag = 0, confirmations, stuckAfterMs }) => {
      const polls = new PollBackoff();
      polls.adopt(blockTimeMs, confirmations, headLag);
      // a block until one contains it, those that follow it, and half of one until the follower has read and told that
      const takesMs = (confirmations + headLag) * blockTimeMs;
      const firstMs = polls.next(patienceMs(stuckAfterMs));
      expect(firstMs).toBeGreaterThanOrEqual(takesMs + blockTimeMs / 2);
      expect(firstMs).toBeLessThanOrEqual(stuckAfterMs);
      polls.reset();
      // once it is known that a block holds it, whatever its patience
      expect(polls.next(Infinity)).toBeGreaterThanOrEqual(1.5 * takesMs);
    },
  );
});

test('1,000 transfers in flight on a chain with a block every 12 seconds: it is asked for fewer than one in ten of them', () => {
  const { blockTimeMs, confirmations, stuckAfterMs } = loadRegistry('production', ['ethereum']).get('ethereum');
  expect(blockTimeMs).toBe(12_000);
  let asked = 0;
  for (let transfer = 0; transfer < 1_000; transfer += 1) {
    // nine of ten are in the next block, one waits for up to four more; the follower polls twice a block
    const untilNextBlock = (transfer * 7_919) % blockTimeMs;
    const later = transfer % 10 === 0 ? (transfer / 10) % 5 : 0;
    const told = untilNextBlock + (later + confirmations - 1) * blockTimeMs + blockTimeMs / 2;
    const polls = new PollBackoff();
    polls.adopt(blockTimeMs, confirmations);
    for (let at = polls.next(stuckAfterMs); at < told; at += polls.next(stuckAfterMs)) asked += 1;
  }
  expect(asked).toBeLessThan(100);
});
