import type { EntityManager } from 'typeorm';
import type { GetFamily } from '../chains/family';
import type { ChainDefinition, ChainFamily, DepositFound } from '../chains/types';
import { insertDepositRows, toDepositRows } from './rows';
import { batchSize } from './stored-deposits';

/**
 * Which of these addresses belong to the gateway; canonical keys in, subset out. Disabled accounts count: they still receive
 * deposits.
 */
export async function depositAddresses(manager: EntityManager, family: ChainFamily, addressKeys: string[]): Promise<Set<string>> {
  const rows = await manager.query<{ address_key: string }[]>(
    'select address_key from accounts where family = $1 and address_key = any($2::text[])',
    [family, addressKeys],
  );
  return new Set(rows.map((row) => row.address_key));
}

/**
 * Stores payments to addresses of the gateway as DETECTED; nothing is credited yet. Idempotent by position (chain, hash, position):
 * a deposit that is found again in another block, or that was stored while no block held it, is moved to that block. Unregistered
 * tokens, zero amounts and unknown addresses are left out.
 */
export async function recordDeposits(
  manager: EntityManager,
  chain: ChainDefinition,
  found: DepositFound[],
  findFamily?: GetFamily,
): Promise<void> {
  for (let start = 0; start < found.length; start += batchSize) {
    const batch = found.slice(start, start + batchSize);
    await insertDepositRows(manager, chain, await toDepositRows(manager, chain, batch, findFamily));
  }
}
