import { GatewayError } from '../platform/errors';
import type { IdleClock } from './idle-clock';
import { unownedKeys } from './metrics';
import type { ShareStore } from './store';

/** A generation takes this node's processor for seconds: it begins after as long without any session. */
const idleBeforeMs = 2_000;
/** Within seven days, of 105 KB each; a pool has 16 at most, the others are dropped ones. */
const maxUnowned = 256;

/** This node's own rule for keys of no client, which are generated before a wallet wants them. */
export class PooledKeys {
  constructor(
    private readonly self: number,
    private readonly store: Pick<ShareStore, 'countUnowned'>,
    private readonly clock: Pick<IdleClock, 'idleMs'>,
  ) {}

  /**
   * Those that are being generated at this moment are not counted.
   * @throws GatewayError signers_unavailable while the node is busy; order_refused when it has 256 such keys of the last seven days.
   */
  async assertMayGenerate(): Promise<void> {
    if (this.clock.idleMs < idleBeforeMs)
      throw new GatewayError('signers_unavailable', `node ${this.self} is busy, and generates no key for the pool meanwhile`);
    const count = await this.store.countUnowned();
    unownedKeys.set(count);
    if (count >= maxUnowned)
      throw new GatewayError(
        'order_refused',
        `client_id: this node has ${maxUnowned} keys of no client of the last seven days, and adds none`,
      );
  }
}
