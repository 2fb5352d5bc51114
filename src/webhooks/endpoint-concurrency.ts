export interface ConcurrencyLimits {
  /** Holders of one key at once. */
  running: number;
  /** Callers of one key that may wait for a place. */
  waiting: number;
  maxWaitMs: number;
}

interface Lane {
  held: number;
  queue: (() => void)[];
  /** How long a place was held of late; undefined before the first was given back. */
  meanMs: number | undefined;
}

/** Share of the last one in the mean. */
const weight = 0.2;

/**
 * A few places per key and a short queue before them, so that whoever is slow uses up its own places and nobody else's.
 * In memory: each process has its own.
 */
export class EndpointConcurrency {
  private readonly lanes = new Map<string, Lane>();

  constructor(private readonly limits: ConcurrencyLimits) {}

  /**
   * Does the work when a place is free or becomes free in time; undefined when not.
   * @param single only while nobody else of this key works, without waiting
   */
  async run<T>(key: string, work: () => Promise<T>, { single = false } = {}): Promise<T | undefined> {
    if (!(await this.enter(key, single))) return undefined;
    const begun = performance.now();
    try {
      return await work();
    } finally {
      this.leave(key, performance.now() - begun);
    }
  }

  /** Milliseconds until so many callers of a busy key have had their turn; 0 as long as nothing is known. */
  turnMs(key: string, callers: number, { single = false } = {}): number {
    return (callers / (single ? 1 : this.limits.running)) * (this.lanes.get(key)?.meanMs ?? 0);
  }

  private async enter(key: string, single: boolean): Promise<boolean> {
    const lane = this.lanes.get(key) ?? { held: 0, queue: [], meanMs: undefined };
    if (lane.held < (single ? 1 : this.limits.running)) {
      this.lanes.set(key, lane);
      lane.held += 1;
      return true;
    }
    if (single || lane.queue.length >= this.limits.waiting) return false;
    return new Promise((resolve) => {
      const granted = () => {
        clearTimeout(timer);
        resolve(true);
      };
      const timer = setTimeout(() => {
        lane.queue.splice(lane.queue.indexOf(granted), 1);
        resolve(false);
      }, this.limits.maxWaitMs);
      lane.queue.push(granted);
    });
  }

  /** Hands the place to the next in line. */
  private leave(key: string, heldMs: number): void {
    const lane = this.lanes.get(key);
    if (!lane) return;
    lane.meanMs = lane.meanMs === undefined ? heldMs : lane.meanMs + weight * (heldMs - lane.meanMs);
    const next = lane.queue.shift();
    if (next) return next();
    lane.held -= 1;
    if (lane.held === 0) this.lanes.delete(key);
  }
}
