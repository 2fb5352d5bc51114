import { ChainAlarms } from '../../../src/following/chain-alarms';
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
