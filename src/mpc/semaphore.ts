import { GatewayError } from '../platform/errors';

export interface SemaphoreOptions {
  /** Holders at once. */
  limit: number;
  /** Callers that may wait; one more is refused at once. */
  maxWaiting: number;
  maxWaitMs: number;
  /** Named in the refusal. */
  what: string;
}

/** A bounded number of holders, a bounded queue in order of arrival, a bounded wait. */
export class Semaphore {
  private held = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly options: SemaphoreOptions) {}

  /** @throws GatewayError signers_unavailable when the queue is full or the wait too long. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    await this.acquire();
    try {
      return await work();
    } finally {
      this.release();
    }
  }

  private async acquire(): Promise<void> {
    const { limit, maxWaiting, maxWaitMs } = this.options;
    if (this.held < limit) {
      this.held += 1;
      return;
    }
    if (this.waiting.length >= maxWaiting) throw this.busy();
    await new Promise<void>((resolve, reject) => {
      const granted = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        this.waiting.splice(this.waiting.indexOf(granted), 1);
        reject(this.busy());
      }, maxWaitMs);
      this.waiting.push(granted);
    });
  }

  /** Hands the place to the next in line, so that nobody overtakes. */
  private release(): void {
    const next = this.waiting.shift();
    if (next) next();
    else this.held -= 1;
  }

  private busy(): GatewayError {
    return new GatewayError('signers_unavailable', `This node is busy with ${this.options.what}`, { retryAfterSeconds: 5 });
  }
}
