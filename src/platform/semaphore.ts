export interface SemaphoreLimits {
  /** Permits: holders at the same time. */
  permits: number;
  /** Callers that may wait for a permit; further ones are refused immediately. */
  maxWaiting: number;
  maxWaitMs: number;
}

/** A counting semaphore with a bounded number of holders, a bounded first-come-first-served queue and a bounded wait. */
export class Semaphore {
  private held = 0;
  private readonly queue: (() => void)[] = [];

  constructor(private readonly limits: SemaphoreLimits) {}

  get idle(): boolean {
    return this.held === 0;
  }

  /** True once there is a permit, to be given back with `release`; false when the queue is full or the wait too long. */
  async acquire(): Promise<boolean> {
    if (this.tryAcquire()) return true;
    const { maxWaiting, maxWaitMs } = this.limits;
    if (this.queue.length >= maxWaiting) return false;
    return new Promise((resolve) => {
      const grant = () => {
        clearTimeout(timer);
        resolve(true);
      };
      const timer = setTimeout(() => {
        this.queue.splice(this.queue.indexOf(grant), 1);
        resolve(false);
      }, maxWaitMs);
      this.queue.push(grant);
    });
  }

  /** Like `acquire`, but does not wait. @param permits a lower limit than the usual one */
  tryAcquire(permits = this.limits.permits): boolean {
    if (this.held >= permits) return false;
    this.held += 1;
    return true;
  }

  /** Passes the permit to the first caller in the queue, so that later callers cannot overtake it. */
  release(): void {
    const next = this.queue.shift();
    if (next) next();
    else this.held -= 1;
  }
}
