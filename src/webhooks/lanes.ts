export interface LaneLimits {
  /** Holders of one key at once. */
  running: number;
  /** Callers of one key that may wait for a place. */
  waiting: number;
  maxWaitMs: number;
}

interface Lane {
  held: number;
  queue: (() => void)[];
}

/**
 * A few places per key and a short queue before them, so that whoever is slow uses up its own places and nobody else's.
 * In memory: each process has its own.
 */
export class Lanes {
  private readonly lanes = new Map<string, Lane>();

  constructor(private readonly limits: LaneLimits) {}

  /** Does the work when a place is free or becomes free in time; undefined when not. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T | undefined> {
    if (!(await this.enter(key))) return undefined;
    try {
      return await work();
    } finally {
      this.leave(key);
    }
  }

  private async enter(key: string): Promise<boolean> {
    const lane = this.lanes.get(key) ?? { held: 0, queue: [] };
    this.lanes.set(key, lane);
    if (lane.held < this.limits.running) {
      lane.held += 1;
      return true;
    }
    if (lane.queue.length >= this.limits.waiting) return false;
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
  private leave(key: string): void {
    const lane = this.lanes.get(key);
    if (!lane) return;
    const next = lane.queue.shift();
    if (next) return next();
    lane.held -= 1;
    if (lane.held === 0) this.lanes.delete(key);
  }
}
