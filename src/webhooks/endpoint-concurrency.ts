import { Semaphore, type SemaphoreLimits } from '../platform/semaphore';

interface Endpoint {
  semaphore: Semaphore;
  /** Moving average of the time a permit was held; undefined before the first was released. */
  meanHoldMs: number | undefined;
}

/** Weight of the latest value in the moving average. */
const latestWeight = 0.2;

/**
 * Limits the concurrent requests of each endpoint, with a short queue, so that a slow endpoint cannot use up the capacity of the
 * others. In memory: the limits are per process.
 */
export class EndpointConcurrency {
  private readonly endpoints = new Map<string, Endpoint>();

  constructor(private readonly limits: SemaphoreLimits) {}

  /**
   * Runs `work` when there is a permit or becomes available in time; returns undefined when not.
   * @param exclusive only when no other request of this endpoint runs, without waiting
   */
  async run<T>(webhookId: string, work: () => Promise<T>, { exclusive = false } = {}): Promise<T | undefined> {
    const endpoint = this.endpoints.get(webhookId) ?? { semaphore: new Semaphore(this.limits), meanHoldMs: undefined };
    const { semaphore } = endpoint;
    // before the first await: a concurrent call has to find the same semaphore
    this.endpoints.set(webhookId, endpoint);
    if (!(exclusive ? semaphore.tryAcquire(1) : await semaphore.acquire())) return undefined;
    const startedAt = performance.now();
    try {
      return await work();
    } finally {
      const heldMs = performance.now() - startedAt;
      const { meanHoldMs } = endpoint;
      endpoint.meanHoldMs = meanHoldMs === undefined ? heldMs : meanHoldMs + latestWeight * (heldMs - meanHoldMs);
      semaphore.release();
      if (semaphore.idle) this.endpoints.delete(webhookId);
    }
  }

  /** Estimated milliseconds until so many callers of a busy endpoint have been served; 0 without any measurement. */
  estimateWaitMs(webhookId: string, callers: number, { exclusive = false } = {}): number {
    const permits = exclusive ? 1 : this.limits.permits;
    return (callers / permits) * (this.endpoints.get(webhookId)?.meanHoldMs ?? 0);
  }
}
