import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../platform/logging';

/** Runs periodically while the process lives, and completes what crashes and outages have left undone. */
export interface PeriodicJob {
  name: string;
  everyMs: number;
  run: () => Promise<void>;
}

/** A failing job is logged and tried again: none of these jobs is urgent. */
export async function runPeriodically({ name, everyMs, run }: PeriodicJob, log: Logger, stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    await run().catch((err: unknown) => log.warn({ err }, `could not ${name}`));
    await delay(everyMs, undefined, { signal: stop }).catch(() => undefined);
  }
}
