import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { setBounded } from '../../platform/bounded';
import { network } from '../../platform/network';
import type { Middleware } from '../context';

interface PaceSettings {
  perSecond: number;
  /** So many are answered at once. */
  burst: number;
}

/** No answer waits longer. */
const longestMs = 2_000;
/** Addresses that are remembered. */
const maxKeys = 20_000;
/** What was not read, not known or too much: nobody's work waits for these answers. */
const refusals: readonly number[] = [400, 401, 405, 413, 415, 429];

/**
 * Delays answers that refuse a request, where one address gets many of them: whoever sends what is refused as fast as it is answered would
 * else keep the process from everybody's requests. A connection waits for its answer before its next request is worked on.
 */
export class RefusalPace {
  /** When the next one of an address would be on time, ms of the clock. */
  private readonly nextAt = new Map<string, number>();

  constructor(
    private readonly settings: PaceSettings = { perSecond: 20, burst: 40 },
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Counts one refusal. @returns how long its answer has to wait, ms */
  take(key: string): number {
    const intervalMs = 1_000 / this.settings.perSecond;
    const now = this.now();
    const at = Math.max(this.nextAt.get(key) ?? 0, now);
    const waitMs = Math.min(longestMs, Math.max(0, at - now - this.settings.burst * intervalMs));
    if (waitMs < longestMs) setBounded(this.nextAt, key, at + intervalMs, maxKeys);
    return waitMs;
  }

  /** The outermost middleware: what it waits for is no part of the duration of a request. */
  readonly middleware: Middleware = async (ctx, next) => {
    await next();
    if (!refusals.includes(ctx.status)) return;
    const waitMs = this.take(network(ctx.ip));
    if (waitMs === 0) return;
    const gone = new AbortController();
    const { signal } = gone;
    // what is left of a refused body is being discarded: not as fast as it can be sent
    const isDiscarding = !ctx.req.complete && ctx.req.readableFlowing === true;
    if (isDiscarding) ctx.req.pause();
    await Promise.race([delay(waitMs, undefined, { signal }), once(ctx.res, 'close', { signal })]).finally(() => gone.abort());
    if (isDiscarding) ctx.req.resume();
  };
}
