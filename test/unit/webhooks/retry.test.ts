import { busyWait } from '../../../src/webhooks/attempt';
import { EndpointConcurrency } from '../../../src/webhooks/endpoint-concurrency';
import { getFailingLimit, retryDelayMs } from '../../../src/webhooks/retry';
import { readConfig } from '../../../src/platform/config';

const schedule = readConfig(['WEBHOOK_RETRY_SCHEDULE_SECONDS'], {}).WEBHOOK_RETRY_SCHEDULE_SECONDS.split(',').map(Number);
const now = () => Date.parse('2026-01-01T00:00:00Z');

test('retries come after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h, then no more', () => {
  const waits = Array.from({ length: 10 }, (_, n) => retryDelayMs(schedule, n + 1, null, { random: () => 0 }));
  const hours = (count: number) => count * 3_600_000;
  const expected = [5_000, 300_000, 1_800_000, hours(2), hours(5), hours(10), hours(14), hours(20), hours(24), null];
  expect(waits).toEqual(expected);
});

test('a wait is longer by a random part of up to a fifth', () => {
  for (let tried = 0; tried < 100; tried += 1) {
    const wait = retryDelayMs(schedule, 1, null);
    expect(wait).toBeGreaterThanOrEqual(5_000);
    expect(wait).toBeLessThanOrEqual(6_000);
  }
});

test.each([
  ['120', 120_000],
  ['Thu, 01 Jan 2026 00:01:00 GMT', 60_000],
  ['1', 5_000],
  ['0', 5_000],
  ['-5', 5_000],
  ['Thu, 01 Jan 2015 00:00:00 GMT', 5_000],
  ['soon', 5_000],
  ['999999999', 24 * 3_600_000],
  ['99999999999999999999', 5_000],
])('Retry-After: %s', (header, expected) => {
  expect(retryDelayMs(schedule, 1, header, { random: () => 0, now })).toBe(expected);
});

test('Retry-After adds no attempt', () => {
  expect(retryDelayMs(schedule, 10, '5', { random: () => 0, now })).toBeNull();
});

test('an endpoint may fail for three days, or for the whole of a shorter schedule', () => {
  expect(getFailingLimit(schedule)).toBe(3 * 24 * 3600);
  expect(getFailingLimit([1, 1, 2])).toBe(4);
});

test.each(['5,', '0', 'a', '5 300', '-5', '1'.repeat(7), Array(21).fill('1').join(',')])('no schedule: %s', (text) => {
  expect(() => readConfig(['WEBHOOK_RETRY_SCHEDULE_SECONDS'], { WEBHOOK_RETRY_SCHEDULE_SECONDS: text })).toThrow(
    /WEBHOOK_RETRY_SCHEDULE_SECONDS/,
  );
});

test('a slow key uses only its own permits, and its queue is short', async () => {
  const concurrency = new EndpointConcurrency({ permits: 2, maxWaiting: 1, maxWaitMs: 50 });
  const ends: (() => void)[] = [];
  const slow = () => concurrency.run('slow', () => new Promise<string>((resolve) => ends.push(() => resolve('done'))));
  const [first, second, waits, refused] = [slow(), slow(), slow(), slow()];
  expect(await refused).toBeUndefined();
  expect(await concurrency.run('other', () => Promise.resolve('at once'))).toBe('at once');
  ends.shift()?.();
  expect(await first).toBe('done');
  // the waiting caller has the permit now
  await new Promise((resolve) => setImmediate(resolve));
  for (const end of ends) end();
  expect(await Promise.all([second, waits])).toEqual(['done', 'done']);

  const again = [slow(), slow()];
  // waits until its time-out
  expect(await slow()).toBeUndefined();
  for (const end of ends) end();
  expect(await Promise.all(again)).toEqual(['done', 'done']);
});

test('a busy key estimates when its callers are served', async () => {
  const concurrency = new EndpointConcurrency({ permits: 2, maxWaiting: 1, maxWaitMs: 50 });
  const ends: (() => void)[] = [];
  const hold = () => concurrency.run('key', () => new Promise<void>((resolve) => ends.push(resolve)));
  const held = [hold(), hold()];
  expect(concurrency.estimateWaitMs('key', 100)).toBe(0);
  await new Promise((resolve) => setTimeout(resolve, 20));
  ends.shift()?.();
  await held[0];
  const estimateWaitMs = concurrency.estimateWaitMs('key', 100);
  expect(estimateWaitMs).toBeGreaterThan(500);
  expect(concurrency.estimateWaitMs('key', 100, { exclusive: true })).toBe(2 * estimateWaitMs);
  expect(await concurrency.run('key', () => Promise.resolve(), { exclusive: true })).toBeUndefined();
  for (const end of ends) end();
  await Promise.all(held);
  expect(await concurrency.run('key', () => Promise.resolve('alone'), { exclusive: true })).toBe('alone');
});

test.each([
  [0, 0, 500, 750],
  [3, 0, 4_000, 6_000],
  [30, 0, 15_000, 22_500],
  [0, 100_000, 100_000, 150_000],
  [30, 1e9, 450_000, 600_000],
])('busy for the time no. %p, its turn in %p ms: it comes back in %p to %p ms', (times, estimateWaitMs, least, most) => {
  for (let tried = 0; tried < 100; tried += 1) {
    const wait = busyWait(times, estimateWaitMs);
    expect(wait).toBeGreaterThanOrEqual(least);
    expect(wait).toBeLessThanOrEqual(most);
  }
});
