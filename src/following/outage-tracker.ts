import { isDatabaseDown } from '../platform/database';
import { GatewayError } from '../platform/errors';
import type { Logger } from '../platform/logging';

const firstBackoffMs = 500;
const maxBackoffMs = 15_000;

/** Turns failures into waiting: one log line when trouble starts, one when its reason changes, one when it is over. */
export class OutageTracker {
  private failures = 0;
  private since = 0;
  private reason = '';

  constructor(private readonly logger: Logger) {}

  /** 0 while all is well. */
  get backoffMs(): number {
    return this.failures === 0 ? 0 : Math.min(maxBackoffMs, firstBackoffMs * 2 ** Math.min(this.failures - 1, 10));
  }

  /** Result of the work, or undefined when it failed. @throws what no waiting mends: anything but chain and database trouble. */
  async run<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      const result = await work();
      if (this.failures > 0)
        this.logger.info({ failures: this.failures, seconds: Math.round((Date.now() - this.since) / 1000) }, 'following again');
      this.failures = 0;
      this.reason = '';
      return result;
    } catch (error) {
      const reason = findReason(error);
      if (reason === null) throw error;
      if (this.failures === 0) this.since = Date.now();
      this.failures += 1;
      if (reason !== this.reason) this.logger.warn({ err: error }, 'following is interrupted: trying again until it works');
      this.reason = reason;
      return undefined;
    }
  }
}

function findReason(error: unknown): string | null {
  if (error instanceof GatewayError && error.retryable) return error.message;
  return isDatabaseDown(error) ? 'the database is unreachable' : null;
}
