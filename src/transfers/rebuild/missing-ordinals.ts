import type { EntityManager } from 'typeorm';
import type { ReservationOwner } from '../../chains/family';
import { recordForeignOrdinals } from '../../chains/reservations';
import type { ChainDefinition } from '../../chains/types';
import type { RebuildDependencies } from './rebuild';
import { findOrderedBytes, type KnownOrder } from './rebuild-attempt';

/** How many ordinals of an address its chain's final transactions have used up; null where there are none. */
export type CountUsed = (chain: ChainDefinition, address: string) => Promise<bigint | null>;

/** All ordinals of an address below this one are used up. */
export interface UsedOrdinals extends Pick<ReservationOwner, 'chain' | 'addressKey'> {
  below: bigint;
}

interface Dependencies extends Pick<RebuildDependencies, 'registry' | 'getFamily'> {
  countUsed: CountUsed;
}

/**
 * For orders that are accepted as missing, what the chain has executed of them: its final count as far as these orders explain it, so that
 * what is beyond stays an alarm. Nothing where no node shows the bytes, or the chain is not enabled.
 * @throws GatewayError chain_unavailable.
 */
export async function findUsedOrdinals(
  { registry, getFamily, countUsed }: Dependencies,
  orders: readonly KnownOrder[],
): Promise<UsedOrdinals[]> {
  const found: UsedOrdinals[] = [];
  for (const { claims, bytes } of orders) {
    const chain = registry.findByCaip2(claims.chain);
    if (!chain) continue;
    const family = getFamily(chain.family);
    const from = family.parseAddress(claims.from);
    const unsigned = findOrderedBytes(family, claims, bytes);
    if (!from || unsigned === undefined) continue;
    for (const resource of family.describe(unsigned).resources) {
      const ordinal = family.getOrdinal(resource);
      const used = ordinal === null ? null : await countUsed(chain, from.address);
      if (ordinal === null || used === null || used === 0n) continue;
      found.push({ chain: chain.name, addressKey: from.key, below: used > ordinal ? ordinal + 1n : used });
    }
  }
  return found;
}

export async function recordUsedOrdinals(manager: EntityManager, used: readonly UsedOrdinals[]): Promise<void> {
  for (const { below, ...owner } of used) await recordForeignOrdinals(manager, owner, below);
}
