import type { EntityManager } from 'typeorm';
import { recordForeignOrdinals } from '../chains/reservations';
import type { RebuildDependencies } from './rebuild';
import { findOrderedBytes, type KnownOrder } from './rebuild-attempt';

/**
 * For orders that are accepted as missing: the chain may have executed their bytes, so that one of their ordinals which it counts is no
 * alarm. Nothing where no node shows the bytes, or the chain is not enabled.
 */
export async function recordMissingOrdinals(
  manager: EntityManager,
  { registry, getFamily }: RebuildDependencies,
  orders: readonly KnownOrder[],
): Promise<void> {
  for (const { claims, bytes } of orders) {
    const chain = registry.findByCaip2(claims.chain);
    if (!chain) continue;
    const family = getFamily(chain.family);
    const addressKey = family.parseAddress(claims.from)?.key;
    const unsigned = findOrderedBytes(family, claims, bytes);
    if (addressKey === undefined || unsigned === undefined) continue;
    for (const resource of family.describe(unsigned).resources) {
      const ordinal = family.getOrdinal(resource);
      if (ordinal !== null) await recordForeignOrdinals(manager, { chain: chain.name, addressKey }, ordinal + 1n);
    }
  }
}
