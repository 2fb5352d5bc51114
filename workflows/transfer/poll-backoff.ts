/** First and longest wait before the chain is asked directly, in case the follower's signal does not arrive. */
const firstWaitMs = 15_000;
const longestWaitMs = 10 * 60_000;

/** Increasing waits that start again after every change. */
export class PollBackoff {
  private waitMs = firstWaitMs;

  next(atMostMs: number): number {
    const waitMs = Math.min(this.waitMs, atMostMs);
    this.waitMs = Math.min(this.waitMs * 2, longestWaitMs);
    return waitMs;
  }

  reset(): void {
    this.waitMs = firstWaitMs;
  }
}
