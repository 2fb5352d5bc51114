import type { LiveStatus } from '../../../src/messages/progress';
import { LiveStatusCache } from '../../../src/transactions/live-status';

const signing: LiveStatus = { step: 'sign', attempt: 1, detail: '' };
const running = (txId: string, version = 1) => ({ txId, version, isSigned: true, endedAt: null });

/** A workflow service that counts what it is asked. */
function counting(answer: () => Promise<LiveStatus | null> = () => Promise.resolve(signing)) {
  const asked: string[] = [];
  const source = { live: (txId: string) => (asked.push(txId), answer()) };
  return { asked, source };
}

let now: number;
beforeEach(() => {
  now = 5_000;
  jest.spyOn(performance, 'now').mockImplementation(() => now);
});
afterEach(() => jest.restoreAllMocks());

test('1,000 pollers of a transfer in 3 seconds: its workflow is asked once a second, and all see the answer', async () => {
  const { asked, source } = counting();
  const cache = new LiveStatusCache(source);
  const seen = new Set<LiveStatus | null>();
  for (let poll = 0; poll < 1_000; poll += 1) {
    now = 5_000 + poll * 3;
    seen.add(await cache.get(running('a')));
  }
  expect(asked).toHaveLength(3);
  expect(seen).toEqual(new Set([signing]));
});

test('pollers at the same moment share one query, also one that gets no answer', async () => {
  let give: (status: LiveStatus | null) => void = () => undefined;
  const { asked, source } = counting(() => new Promise((resolve) => (give = resolve)));
  const cache = new LiveStatusCache(source);
  const polls = Array.from({ length: 1_000 }, () => cache.get(running('a')));
  give(null);
  expect(new Set(await Promise.all(polls))).toEqual(new Set([null]));
  expect(await cache.get(running('a'))).toBeNull();
  expect(asked).toHaveLength(1);
});

test('one that has ended, or has no workflow, is not asked about', async () => {
  const { asked, source } = counting();
  const cache = new LiveStatusCache(source);
  await cache.get(running('a'));
  expect(await cache.get({ ...running('a', 2), endedAt: new Date() })).toBeNull();
  expect(await cache.get({ ...running('b'), isSigned: false })).toBeNull();
  expect(asked).toEqual(['a']);
});

test('what was answered about an earlier state is not shown with a later one', async () => {
  const { asked, source } = counting();
  const cache = new LiveStatusCache(source);
  expect(await cache.get(running('a', 1))).toBe(signing);
  now += 500;
  expect(await cache.get(running('a', 2))).toBeNull();
  now += 500;
  expect(await cache.get(running('a', 2))).toBe(signing);
  expect(asked).toHaveLength(2);
});

test('1,000 transfers that are polled once a second: a limited number of queries, and no status for the others', async () => {
  const { asked, source } = counting();
  const cache = new LiveStatusCache(source, { queriesPerSecond: 20 });
  let without = 0;
  for (let second = 0; second < 3; second += 1) {
    for (let transfer = 0; transfer < 1_000; transfer += 1) {
      now = 5_000 + second * 1_000 + transfer;
      without += (await cache.get(running(`t${transfer}`))) === null ? 1 : 0;
    }
  }
  expect(asked.length).toBeLessThanOrEqual(60);
  expect(asked.length).toBeGreaterThanOrEqual(40);
  expect(without).toBe(3_000 - asked.length);
});

test('remembers a limited number of transfers', async () => {
  const { asked, source } = counting();
  const cache = new LiveStatusCache(source, { maxEntries: 2, queriesPerSecond: 100 });
  for (const txId of ['a', 'b', 'c', 'c', 'b', 'a']) await cache.get(running(txId));
  expect(asked).toEqual(['a', 'b', 'c', 'a']);
});
