import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../platform/logging';

/** Run every so often while the process lives: what crashes and outages left to be done. */
export interface PeriodicJob {
  name: string;
  everyMs: number;
  run: () => Promise<void>;
}

/** A failing chore is logged and tried again: what it does is never urgent. */
export async function runPeriodically({ name, everyMs, run }: PeriodicJob, log: Logger, stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    await run().catch((err: unknown) => log.warn({ err }, `could not ${name}`));
    await delay(everyMs, undefined, { signal: stop }).catch(() => undefined);
  }
}
