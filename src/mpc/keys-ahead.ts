import { GatewayError } from '../platform/errors';
import type { SigningClock } from './signing-clock';
import type { ShareStore } from './store';

/** A generation takes this node's processor for seconds: it begins when no transaction was signed for so long. */
const idleBeforeMs = 2_000;

/** This node's own rule for keys that are generated before a client wants them. */
export class KeysAhead {
  constructor(
    private readonly self: number,
    private readonly store: Pick<ShareStore, 'assertRoomAhead' | 'database'>,
    private readonly clock: SigningClock,
  ) {}

  /** @throws GatewayError signers_unavailable while the node signs; order_refused when it keeps enough such keys. */
  async assertMayGenerate(keyId: string): Promise<void> {
    if (this.clock.idleMs < idleBeforeMs)
      throw new GatewayError('signers_unavailable', `node ${this.self} signs, and generates no key ahead meanwhile`);
    await this.store.database.transaction((manager) => this.store.assertRoomAhead(manager, keyId));
  }
}
