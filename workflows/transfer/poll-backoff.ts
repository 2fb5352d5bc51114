import { pollWaits } from './waits';

/** Increasing waits that start again after every change. */
export class PollBackoff {
  private waits = pollWaits(0);
  private waitMs = this.waits.firstMs;

  /** Starts again with the waits of a chain. */
  adopt(blockTimeMs: number): void {
    this.waits = pollWaits(blockTimeMs);
    this.reset();
  }

  next(atMostMs: number): number {
    const waitMs = Math.min(this.waitMs, atMostMs);
    this.waitMs = Math.min(this.waitMs * 2, this.waits.longestMs);
    return waitMs;
  }

  reset(): void {
    this.waitMs = this.waits.firstMs;
  }
}
