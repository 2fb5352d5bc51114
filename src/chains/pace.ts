import { setTimeout as delay } from 'node:timers/promises';
import { LimitedRequests } from './no-answer';

/** Longest time that a request waits for its turn. */
const maxWaitMs = 15_000;

/** What one client has of an endpoint's pace. */
export interface Turns {
  /** Resolves when the request may be sent. @throws LimitedRequests when too many wait already, or it has waited for too long. */
  wait: () => Promise<void>;
  /** The endpoint has refused a request as one too many. */
  pause: (ms: number) => void;
}

interface Waiting {
  since: number;
  resolve: () => void;
  reject: (error: Error) => void;
}

/**
 * Spaces the requests to one endpoint evenly: public endpoints refuse those beyond their limit, and then all for a while. Each client has a queue
 * of its own, and they take turns: many requests of one delay those of another by one request each.
 */
export class Pace {
  private nextAt = 0;
  private readonly intervalMs: number;
  /** Those with requests that wait, the next one first. */
  private readonly busy: Waiting[][] = [];

  constructor(
    perSecond: number,
    /** ms of a monotonic clock: one that is set back would have every request wait for as long. */
    private readonly now: () => number = () => performance.now(),
  ) {
    this.intervalMs = 1_000 / perSecond;
  }

  /** For one more client. */
  turns(): Turns {
    const queue: Waiting[] = [];
    return {
      wait: () => this.wait(queue),
      pause: (ms) => {
        this.nextAt = Math.max(this.nextAt, this.now() + ms);
      },
    };
  }

  private async wait(queue: Waiting[]): Promise<void> {
    const since = this.now();
    // as often as it has its turn each of the others may have one
    const others = this.busy.filter((other) => other !== queue);
    const before = others.reduce((sum, { length }) => sum + Math.min(length, queue.length + 1), queue.length);
    if (this.busy.length === 0) this.nextAt = Math.max(this.nextAt, since);
    if (this.nextAt - since + before * this.intervalMs > maxWaitMs) throw tooMany();
    await new Promise<void>((resolve, reject) => {
      queue.push({ since, resolve, reject });
      if (queue.length > 1) return;
      this.busy.push(queue);
      if (this.busy.length === 1) void this.serve();
    });
  }

  private async serve(): Promise<void> {
    for (let queue = this.busy[0]; queue; queue = this.busy[0]) {
      const waitMs = this.nextAt - this.now();
      if (waitMs > 0) {
        await delay(waitMs);
        // meanwhile it may have become later
        continue;
      }
      this.busy.shift();
      const request = queue.shift() as Waiting;
      if (queue.length > 0) this.busy.push(queue);
      if (this.now() - request.since > 2 * maxWaitMs) {
        request.reject(tooMany());
        continue;
      }
      this.nextAt += this.intervalMs;
      request.resolve();
    }
  }
}

const tooMany = (): LimitedRequests => new LimitedRequests('too many requests wait for the endpoint');
