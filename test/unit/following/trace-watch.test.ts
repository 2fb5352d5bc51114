import type { ScanResult } from '../../../src/chains/chain-client';
import { loadRegistry } from '../../../src/chains/registry';
import { ChainAlarms } from '../../../src/following/chain-alarms';
import { TraceWatch } from '../../../src/following/trace-watch';
import { metrics } from '../../../src/platform/metrics';

test('blocks that are scanned without traces are an alarm, and for ten minutes afterwards', async () => {
  const chain = loadRegistry('local', ['arbitrum']).get('arbitrum');
  const logged: unknown[] = [];
  const chainAlarms = new ChainAlarms({ error: (it: unknown) => void logged.push(it), info: () => undefined } as never);
  let nowMs = 0;
  const traces = new TraceWatch({ chain, chainAlarms }, () => nowMs);
  const scan = (isUntraced: boolean) =>
    traces.watch(() => Promise.resolve({ blocks: [], scannedTo: 1, ...(isUntraced && { isUntraced: true }) } as ScanResult));
  const isRaised = async () =>
    /chain="arbitrum",alert="deposits_untraced"} 1/.test(await metrics.getSingleMetricAsString('gateway_chain_alarms'));

  await scan(false);
  expect(await isRaised()).toBe(false);
  expect(await scan(true)).toMatchObject({ isUntraced: true });
  expect(logged).toEqual([{ alert: 'deposits_untraced', chain: 'arbitrum' }]);
  expect(chainAlarms.details).toEqual({ 'alarms:arbitrum': expect.stringMatching(/^deposits_untraced: blocks are scanned/) });
  nowMs += 10 * 60_000 - 1;
  await scan(false);
  expect(await isRaised()).toBe(true);
  nowMs += 1;
  await scan(false);
  expect(await isRaised()).toBe(false);
  expect(chainAlarms.details).toEqual({});
});
