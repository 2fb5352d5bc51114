import { GatewayError } from '../platform/errors';
import { Semaphore, type SemaphoreLimits } from '../platform/semaphore';

/** Each client has turns of its own: one that asks for much does not have the others wait behind all of it. */
export class Turns {
  private readonly byKey = new Map<string, Semaphore>();

  /** `limits`: of one key. */
  constructor(private readonly limits: SemaphoreLimits) {}

  /** @throws GatewayError chain_unavailable for one too many, else what the work throws. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const turns = this.byKey.get(key) ?? new Semaphore(this.limits);
    this.byKey.set(key, turns);
    if (!(await turns.acquire()))
      throw new GatewayError('chain_unavailable', 'too many payments of the client are checked at once');
    try {
      return await work();
    } finally {
      turns.release();
      if (turns.idle) this.byKey.delete(key);
    }
  }
}
