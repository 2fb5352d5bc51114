import type { KeyProtocol } from '../chains/types';
import type { NodeIndex } from '../messages/nodes';
import { GatewayError } from '../platform/errors';
import { wipe, type ShareStore, type UnlockedKey } from './store';

export interface OwnShares {
  self: NodeIndex;
  store: Pick<ShareStore, 'unlock'>;
  /** Told of a key of which this node has no share. */
  lacks?: Lacks;
}

/** What a node that has lost something has to say about a key, before it refuses to sign with it. */
export type Lacks = (keyId: string, reason: string) => void;

/**
 * This node's share of a key; the caller wipes it.
 * @throws GatewayError signers_unavailable when the node has none, invalid_parameter for a key of another protocol.
 */
export async function unlockKey({ self, store, lacks }: OwnShares, keyId: string, protocol: KeyProtocol): Promise<UnlockedKey> {
  const key = await store.unlock(keyId);
  if (!key) {
    lacks?.(keyId, 'this node has no share of a key that it is to sign with');
    throw new GatewayError('signers_unavailable', `node ${self} has no share of this key`);
  }
  if (key.protocol === protocol) return key;
  wipe(key);
  throw new GatewayError('invalid_parameter', 'the key is of another protocol');
}

/** Every key once, by its id. @throws what `unlockKey` throws; none is left unlocked then. */
export async function unlockKeys(
  shares: OwnShares,
  keyIds: readonly string[],
  protocol: KeyProtocol,
): Promise<Map<string, UnlockedKey>> {
  const keys = new Map<string, UnlockedKey>();
  try {
    for (const keyId of new Set(keyIds)) keys.set(keyId, await unlockKey(shares, keyId, protocol));
    return keys;
  } catch (error) {
    keys.forEach(wipe);
    throw error;
  }
}

/**
 * @throws GatewayError signers_unavailable for a share that is bound to no wallet, as in a database that was restored: another node may have
 * bound it; intent_mismatch for another client's key.
 */
export function assertBound(clientId: string, keys: ReadonlyMap<string, UnlockedKey>, lacks: Lacks): void {
  for (const key of keys.values()) {
    if (key.walletId === null) {
      lacks(key.keyId, 'this node has bound a key that it is to sign with to no wallet');
      throw new GatewayError('signers_unavailable', 'signers: this node has not bound the key to a wallet');
    }
    if (key.clientId !== clientId) throw new GatewayError('intent_mismatch', 'client_id: the key belongs to another client');
  }
}
