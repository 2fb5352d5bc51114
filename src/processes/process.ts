import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { ConfigError } from '../platform/config';
import { describeError } from '../platform/error-log';
import type { Logger } from '../platform/logging';

/** EX_CONFIG of sysexits.h: a supervisor need not start the process again before its environment has changed. */
const configurationExitCode = 78;

/** Runs an entry point: a wrong environment variable ends it with one sentence, any other unexpected error with a log line. */
export function runMain(name: string, main: () => Promise<void>): void {
  main().then(
    () => process.exit(0),
    (error: unknown) => {
      if (error instanceof ConfigError) {
        process.stderr.write(`${name}: ${error.message}\n`);
        process.exit(configurationExitCode);
      }
      process.stderr.write(`${JSON.stringify({ level: 'error', process: name, err: describeError(error) })}\n`);
      process.exit(1);
    },
  );
}

/** Workers, jobs and waits that one process ends with its signal: some for each chain. More are a leak, of which Node.js warns. */
const maxStopped = 200;

/** Aborted by the first SIGINT or SIGTERM. Who listens to it stops listening when its work has ended. */
export function shutdownSignal(): AbortSignal {
  const controller = new AbortController();
  setMaxListeners(maxStopped, controller.signal);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => controller.abort(signal));
  return controller.signal;
}

/** Retries until `work` succeeds or the process shuts down: dependencies may start later than this process. */
export async function untilUp<T>(
  what: string,
  connect: () => Promise<T>,
  logger: Logger,
  stop: AbortSignal,
): Promise<T | undefined> {
  for (let attempt = 0; !stop.aborted; attempt += 1) {
    try {
      return await connect();
    } catch (error) {
      if (error instanceof ConfigError) throw error;
      logger.warn({ reason: describeError(error).message }, `${what} is not reachable, trying again`);
      await delay(Math.min(250 * 2 ** attempt, 5_000), undefined, { signal: stop }).catch(() => undefined);
    }
  }
  return undefined;
}

/** Whether what is asked answers at all; for health checks. */
export function answers(ask: () => Promise<unknown>): Promise<boolean> {
  return ask().then(
    () => true,
    () => false,
  );
}
