import type { ScanResult } from '../../../src/chains/chain-client';
import { EndpointFault } from '../../../src/chains/endpoints';
import { loadRegistry } from '../../../src/chains/registry';
import { ChainAlarms } from '../../../src/following/chain-alarms';
import { TraceWatch } from '../../../src/following/trace-watch';
import { GatewayError } from '../../../src/platform/errors';
import { metrics } from '../../../src/platform/metrics';

const chain = loadRegistry('local', ['arbitrum']).get('arbitrum');
const tenMinutes = (10 * 60_000) / chain.blockTimeMs;
const logged: unknown[] = [];
const chainAlarms = new ChainAlarms({ error: (it: unknown) => void logged.push(it), info: () => undefined } as never);
const traces = new TraceWatch({ chain, chainAlarms });
const isRaised = async (alert: string) =>
  (await metrics.getSingleMetricAsString('gateway_chain_alarms')).includes(`chain="arbitrum",alert="${alert}"} 1`);

test('blocks that were scanned without traces are an alarm that names them, until ten minutes have passed, and as much of the chain is scanned after them', async () => {
  const untraced = { from: 5, to: 7, isRecent: false };
  traces.report({ nextBlock: 8, untraced: null });
  expect(await isRaised('deposits_untraced')).toBe(false);
  traces.report({ nextBlock: 8, untraced });
  expect(logged).toEqual([{ alert: 'deposits_untraced', chain: 'arbitrum' }]);
  expect(chainAlarms.details).toEqual({ 'alarms:arbitrum': expect.stringMatching(/^deposits_untraced: of blocks 5 to 7 /) });
  traces.report({ nextBlock: 7 + tenMinutes, untraced });
  expect(await isRaised('deposits_untraced')).toBe(true);
  // a follower that catches up scans as much in seconds
  traces.report({ nextBlock: 8 + tenMinutes, untraced: { ...untraced, isRecent: true } });
  expect(await isRaised('deposits_untraced')).toBe(true);
  traces.report({ nextBlock: 8 + tenMinutes, untraced });
  expect(await isRaised('deposits_untraced')).toBe(false);
  expect(chainAlarms.details).toEqual({});
});

test('where no block is scanned since no endpoint has traces, that is an alarm until one has', async () => {
  const fault = new EndpointFault('traces_missing', 'none');
  const failed = new GatewayError('chain_unavailable', 'arbitrum: none', { cause: fault });
  await expect(traces.watch(() => Promise.reject(failed))).rejects.toBe(failed);
  expect(await isRaised('traces_missing')).toBe(true);
  const found: ScanResult = { blocks: [], scannedTo: 1, untraced: { from: 1, to: 1 } };
  expect(await traces.watch(() => Promise.resolve(found))).toBe(found);
  expect(await isRaised('traces_missing')).toBe(false);
});
