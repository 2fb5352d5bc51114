/** First and longest wait before the chain is asked directly, should the follower's signal not come. */
const firstWaitMs = 15_000;
const longestWaitMs = 10 * 60_000;

/** Growing waits that start over whenever something moved. */
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
