import { getEventListeners, getMaxListeners } from 'node:events';
import type { Worker } from '@temporalio/worker';
import { runPeriodically } from '../../../src/processes/periodic-jobs';
import { shutdownSignal, untilUp } from '../../../src/processes/process';
import { runUntil } from '../../../src/processes/temporal-worker';
import { createLogger } from '../../../src/platform/logging';

const logger = createLogger('test', 'silent');
const count = (signal: AbortSignal): number => getEventListeners(signal, 'abort').length;

/** The part of a worker that `runUntil` uses; ends by `end`, or when it is shut down. */
function standIn() {
  let end: (error?: Error) => void = () => undefined;
  const ended = new Promise<void>((resolve, reject) => (end = (error) => (error ? reject(error) : resolve())));
  const worker = { getState: () => 'RUNNING', shutdown: () => end(), run: () => ended } as unknown as Worker;
  return { worker, end };
}

describe('listeners to the signal that ends a process', () => {
  it.each([
    ['has ended', undefined],
    ['has failed', new Error('worker failed')],
  ])('a worker that %s has none', async (_, error) => {
    const { signal } = new AbortController();
    const { worker, end } = standIn();
    const run = runUntil(worker, signal);
    expect(count(signal)).toBe(1);
    end(error);
    await run.catch((thrown: unknown) => expect(thrown).toBe(error));
    expect(count(signal)).toBe(0);
  });

  it('a worker that cannot start has none', async () => {
    const { signal } = new AbortController();
    const worker = {
      run: () => {
        throw new Error('no state to start in');
      },
    } as unknown as Worker;
    await expect(runUntil(worker, signal)).rejects.toThrow('no state');
    expect(count(signal)).toBe(0);
  });

  it('the wait for a dependency has none after it', async () => {
    const { signal } = new AbortController();
    let asked = 0;
    const connect = () => {
      if (asked++ === 0) return Promise.reject(new Error('not yet'));
      return Promise.resolve(count(signal));
    };
    expect(await untilUp('dependency', connect, logger, signal)).toBe(0);
    expect(count(signal)).toBe(0);
  });

  it('as many workers and jobs as a process of many chains has are no leak, and leave none behind', async () => {
    const others = new Set(process.listeners('SIGTERM'));
    const stop = shutdownSignal();
    const workers = Array.from({ length: 40 }, () => runUntil(standIn().worker, stop));
    const jobs = Array.from({ length: 40 }, (_, index) =>
      runPeriodically({ name: `job ${index}`, everyMs: 60_000, run: () => Promise.resolve() }, logger, stop),
    );
    await new Promise((resolve) => setImmediate(resolve));
    expect(count(stop)).toBe(80);
    expect(getMaxListeners(stop)).toBeGreaterThanOrEqual(80);
    const [terminate] = process.listeners('SIGTERM').filter((it) => !others.has(it));
    terminate?.('SIGTERM');
    await Promise.all([...workers, ...jobs]);
    expect(count(stop)).toBe(0);
  });
});
