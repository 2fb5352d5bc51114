import { bitcoinFamilies } from './bitcoin/family';
import { evmFamily } from './evm/family';
import type { Family, GetFamily } from './family';
import { solanaFamilies } from './solana/family';
import { tronFamilies } from './tron/family';
import type { ChainFamily } from './types';

const families: ReadonlyMap<ChainFamily, Family> = new Map(
  [evmFamily, ...bitcoinFamilies, ...tronFamilies, ...solanaFamilies].map((family) => [family.name, family]),
);

/** @throws Error for a family that is not in the table. */
export const getFamily: GetFamily = (name) => {
  const family = families.get(name);
  if (!family) throw new Error(`there is no chain family ${name}`);
  return family;
};
