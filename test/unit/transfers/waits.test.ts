import { PollBackoff } from '../../../workflows/transfer/poll-backoff';
import { reserveWaits } from '../../../workflows/transfer/waits';

const minute = 60_000;

test('a reservation is tried again by the block time of its chain: for an hour, or for 36 blocks', () => {
  expect(reserveWaits(12_000)).toEqual({ firstMs: 6_000, longestMs: 30_000, totalMs: 60 * minute });
  expect(reserveWaits(10 * minute)).toEqual({ firstMs: 30_000, longestMs: 5 * minute, totalMs: 360 * minute });
  expect(reserveWaits(100)).toMatchObject({ firstMs: 1_000, longestMs: 30_000 });
});

test('a chain is asked directly after twice as long each time, at first by its block time', () => {
  const polls = new PollBackoff();
  expect([polls.next(Infinity), polls.next(Infinity), polls.next(1_000)]).toEqual([15_000, 30_000, 1_000]);
  polls.adopt(20 * minute);
  expect(Array.from({ length: 6 }, () => polls.next(Infinity) / minute)).toEqual([1, 2, 4, 8, 16, 20]);
  polls.reset();
  expect(polls.next(Infinity)).toBe(minute);
});
