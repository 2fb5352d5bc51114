import { setTimeout as delay } from 'node:timers/promises';

/** Longest time that a request waits for its turn. */
const maxWaitMs = 15_000;

/** Spaces the requests to one endpoint evenly: public endpoints refuse those beyond their limit, and then all for a while. */
export class Pace {
  private nextAt = 0;
  private readonly intervalMs: number;

  constructor(
    perSecond: number,
    private readonly now: () => number = Date.now,
  ) {
    this.intervalMs = 1_000 / perSecond;
  }

  /** Resolves when the request may be sent. @throws Error when too many wait already. */
  async wait(): Promise<void> {
    const at = Math.max(this.nextAt, this.now());
    const waitMs = at - this.now();
    if (waitMs > maxWaitMs) throw new Error('too many requests wait for the endpoint');
    this.nextAt = at + this.intervalMs;
    if (waitMs > 0) await delay(waitMs);
  }

  /** The endpoint has refused a request as one too many. */
  pause(ms: number): void {
    this.nextAt = Math.max(this.nextAt, this.now() + ms);
  }
}
