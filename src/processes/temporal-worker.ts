import { DefaultLogger, Runtime, type Worker } from '@temporalio/worker';
import type { Logger } from '../platform/logging';

/** Runs a worker until the process shuts down; running work is finished within the worker's grace time. */
export async function runUntil(worker: Worker, stop: AbortSignal): Promise<void> {
  const shutdown = () => {
    if (worker.getState() === 'RUNNING') worker.shutdown();
  };
  stop.addEventListener('abort', shutdown, { once: true });
  const run = worker.run();
  if (stop.aborted) shutdown();
  await run;
}

/** Writes the SDK's own log lines in the format of the process; the process itself handles signals (src/processes/process.ts). */
export function logTemporalWith(logger: Logger): void {
  const levels = { TRACE: 'trace', DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' } as const;
  Runtime.install({
    shutdownSignals: [],
    logger: new DefaultLogger('WARN', ({ level, message, meta: { error, ...temporal } = {} }) =>
      logger[levels[level]]({ temporal, ...(error === undefined ? {} : { err: error }) }, message),
    ),
  });
}
