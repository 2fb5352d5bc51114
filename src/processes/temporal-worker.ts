import { DefaultLogger, NativeConnection, Runtime, Worker, type WorkerOptions } from '@temporalio/worker';
import type { Logger } from '../platform/logging';
import { readTemporalOptions } from '../platform/temporal-client';
import { untilUp } from './process';
import { tracedWorker } from './traced-worker';

/** The connection of the process's workers. @throws Error when Temporal is not reachable or refuses it. */
export function connectWorkers(env?: NodeJS.ProcessEnv): Promise<NativeConnection> {
  return NativeConnection.connect(readTemporalOptions(env).connectionOptions);
}

/** Runs a worker until the process shuts down; running work is finished within the worker's grace time. */
export async function runUntil(worker: Worker, stop: AbortSignal): Promise<void> {
  const shutdown = () => {
    if (worker.getState() === 'RUNNING') worker.shutdown();
  };
  stop.addEventListener('abort', shutdown, { once: true });
  try {
    const run = worker.run();
    if (stop.aborted) shutdown();
    await run;
  } finally {
    stop.removeEventListener('abort', shutdown);
  }
}

interface Serving {
  /** For the health check. */
  running: { worker: boolean };
  logger: Logger;
  stop: AbortSignal;
}

/** Serves the activities of one task queue, once the namespace exists, until the process shuts down. */
export async function serveActivities(options: WorkerOptions, { running, logger, stop }: Serving): Promise<void> {
  const create = () => Worker.create({ namespace: readTemporalOptions().namespace, ...tracedWorker, ...options });
  const worker = await untilUp('Temporal namespace', create, logger, stop);
  if (!worker) return;
  running.worker = true;
  logger.info({ task_queue: options.taskQueue }, 'activities are served');
  try {
    await runUntil(worker, stop);
  } finally {
    running.worker = false;
  }
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
