import { ChainAlarms } from '../../../src/following/chain-alarms';
import { OutageTracker } from '../../../src/following/outage-tracker';
import { GatewayError } from '../../../src/platform/errors';
import { metrics } from '../../../src/platform/metrics';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

const metric = () => metrics.getSingleMetricAsString('gateway_chain_alarms');

test('an alarm is logged when it is raised and every five minutes as long as it is, and ends once', async () => {
  const logged: string[] = [];
  const logger = {
    error: (_: unknown, reason: string) => void logged.push(reason),
    info: (_: unknown, text: string) => void logged.push(text),
  };
  const alarms = new ChainAlarms(logger as never);
  for (let seconds = 0; seconds < 11 * 60; seconds += 10) {
    alarms.raise('ethereum', 'fees_not_believed', `a tip at ${seconds}`);
    jest.advanceTimersByTime(10_000);
  }
  expect(logged).toEqual(['a tip at 0', 'a tip at 300', 'a tip at 600']);
  alarms.raise('ethereum', 'traces_missing', 'no traces');
  alarms.clear('base', 'traces_missing');
  expect(alarms.details).toEqual({ 'alarms:ethereum': 'fees_not_believed: a tip at 650; traces_missing: no traces' });
  expect(await metric()).toContain('gateway_chain_alarms{chain="ethereum",alert="fees_not_believed"} 1');

  for (let times = 0; times < 2; times += 1) alarms.clear('ethereum', 'fees_not_believed');
  expect(logged.slice(3)).toEqual(['no traces', 'the alarm is over']);
  expect(await metric()).toContain('gateway_chain_alarms{chain="ethereum",alert="fees_not_believed"} 0');
  alarms.end('ethereum');
  expect(alarms.details).toEqual({});
  expect(await metric()).not.toContain('alert="traces_missing"} 1');
});

test('a chain that is silent is a warning when that begins and when its reason changes, and one line when it is over', async () => {
  const logged: unknown[] = [];
  const logger = {
    warn: ({ err }: { err: Error }, text: string) => void logged.push(['warn', text, err.message]),
    info: (it: unknown, text: string) => void logged.push(['info', text, it]),
  };
  const outage = new OutageTracker(logger as never);
  const fail = async (reason: string) => {
    jest.advanceTimersByTime(10_000);
    await outage.run(() => Promise.reject(new GatewayError('chain_unavailable', reason)));
  };
  for (const reason of ['no answer', 'no answer', 'an old block', 'an old block']) await fail(reason);
  expect(outage.backoffMs).toBe(4_000);
  expect(await outage.run(() => Promise.resolve('a block'))).toBe('a block');
  const text = 'following is interrupted: trying again until it works';
  expect(logged).toEqual([
    ['warn', text, 'no answer'],
    ['warn', text, 'an old block'],
    ['info', 'following again', { failures: 4, seconds: 30 }],
  ]);
});
