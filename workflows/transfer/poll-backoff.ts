import { pollWaits } from './waits';

const hurriedMs = 1_000;

/** Increasing waits that start again after every change. */
export class PollBackoff {
  private waits = pollWaits(0, 0);
  private waitMs = this.waits.firstMs;
  private isHurried = false;

  /** Starts again with the waits of a chain, for a transfer that needs so many confirmations. `headLag`: see `pollWaits`. */
  adopt(blockTimeMs: number, confirmations: number, headLag?: number): void {
    this.waits = pollWaits(blockTimeMs, confirmations, headLag);
    this.reset();
  }

  next(atMostMs: number): number {
    const waitMs = Math.min(this.waitMs, atMostMs);
    this.waitMs = Math.min(this.waitMs * 2, this.isHurried ? this.waits.soonMs : this.waits.longestMs);
    return waitMs;
  }

  /** No node has it yet: the first wait is short, and none is longer than `soonMs` of the chain, until `calm` or `reset`. */
  hurry(): void {
    this.isHurried = true;
    this.waitMs = hurriedMs;
  }

  calm(): void {
    this.isHurried = false;
  }

  reset(): void {
    this.isHurried = false;
    this.waitMs = this.waits.firstMs;
  }
}
