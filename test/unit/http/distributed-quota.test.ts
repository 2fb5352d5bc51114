import { type RateLimiterRes } from 'rate-limiter-flexible';
import { type Counter, DistributedQuota, type QuotaStatus } from '../../../src/http/limits/distributed-quota';
import { network } from '../../../src/platform/network';

const quota = { name: 'client', limit: 100, windowSeconds: 10 };

/** Counts like the table: fixed windows per key, shared by all users of the store. */
function createStore() {
  const rows = new Map<string, { points: number; expire: number }>();
  const clock = { now: 0 };
  const asked: number[] = [];
  const counter: Counter = {
    async penalty(key, points = 1) {
      asked.push(points);
      await Promise.resolve();
      const row = rows.get(String(key));
      const current = row && row.expire > clock.now ? row : { points: 0, expire: clock.now + quota.windowSeconds * 1000 };
      current.points += points;
      rows.set(String(key), current);
      return { consumedPoints: current.points, msBeforeNext: current.expire - clock.now } as RateLimiterRes;
    },
  };
  const budget = (over: Counter = counter) => new DistributedQuota(quota, over, () => clock.now);
  return { budget, clock, asked };
}

const takeMany = (budget: DistributedQuota, count: number, key = 'a'): Promise<QuotaStatus[]> =>
  Promise.all(Array.from({ length: count }, async () => budget.take(key)));
const allowedOf = (standings: QuotaStatus[]) => standings.filter(({ allowed }) => allowed).length;

test('queries the store once per slice', async () => {
  const { budget, asked } = createStore();
  const one = budget();
  for (let i = 0; i < 10; i += 1)
    expect(await one.take('a')).toMatchObject({ allowed: true, remaining: 99 - i, resetSeconds: 10 });
  expect(asked).toEqual([5, 5]);
});

test('exactly the quota is allowed, however many ask at once; the store is asked for all who wait', async () => {
  const { budget, asked } = createStore();
  const one = budget();
  expect(allowedOf(await takeMany(one, 40))).toBe(40);
  expect(asked.length).toBeLessThanOrEqual(3);
  expect(allowedOf(await takeMany(one, 200))).toBe(60);
});

test('a key with a spent quota is refused without a query until the window ends; then the whole quota is available', async () => {
  const { budget, clock, asked } = createStore();
  const one = budget();
  await takeMany(one, 101);
  const before = asked.length;
  clock.now = 9_500;
  expect(await one.take('a')).toMatchObject({ allowed: false, remaining: 0, resetSeconds: 1 });
  expect(asked).toHaveLength(before);
  clock.now = 10_000;
  expect(await one.take('a')).toMatchObject({ allowed: true, remaining: 99, resetSeconds: 10 });
  expect(allowedOf(await takeMany(one, 200))).toBe(99);
});

test('two processes share the quota: never more, and less by the unspent part of the other’s slice', async () => {
  const { budget } = createStore();
  const [here, there] = [budget(), budget()];
  let allowed = 0;
  for (let i = 0; i < 150; i += 1) if ((await (i % 3 ? here : there).take('a')).allowed) allowed += 1;
  expect(allowed).toBeLessThanOrEqual(100);
  expect(allowed).toBeGreaterThan(100 - 5);
});

test('keys are independent', async () => {
  const { budget } = createStore();
  const one = budget();
  await takeMany(one, 300, 'flood');
  expect(allowedOf(await takeMany(one, 100, 'quiet'))).toBe(100);
});

test('a failing store fails all waiting requests, and is queried again', async () => {
  const { budget } = createStore();
  const penalty = jest
    .fn()
    .mockRejectedValueOnce(new Error('down'))
    .mockResolvedValue({ consumedPoints: 5, msBeforeNext: 9_000 });
  const one = budget({ penalty });
  const results = await Promise.allSettled([one.take('a'), one.take('a')]);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await one.take('a')).toMatchObject({ allowed: true });
});

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0db8:0001:0002::', '2001:db8:1:2::/64'],
  ['2001:DB8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['203.0.113.7:51234', '203.0.113.7'],
  ['[2001:db8::1]', '2001:db8:0:0::/64'],
  ['[2001:db8::1]:51234', '2001:db8:0:0::/64'],
  ['[::ffff:203.0.113.7]:51234', '203.0.113.7'],
  ['::ffff:cb00:7107', '203.0.113.7'],
  ['', 'unknown'],
  ['_hidden', 'unknown'],
  ['3405803783', 'unknown'],
  ['203.0.113.7:51234:1', 'unknown'],
  ['x'.repeat(300), 'unknown'],
])('%s counts as %s', (address, counted) => expect(network(address)).toBe(counted));
