import type { FamilyAdapter } from './adapter';
import { evmAdapter } from './evm/adapter';
import { evmFees, type FamilyFees } from './evm/fees';
import type { ChainFamily } from './types';

const adapters: Record<ChainFamily, FamilyAdapter> = { evm: evmAdapter };
const fees: Record<ChainFamily, FamilyFees> = { evm: evmFees };

/** Pure functions of a family. */
export function getAdapter(family: ChainFamily): FamilyAdapter {
  return adapters[family];
}

/** How a family bounds and sets network fees. */
export function getFeeStrategy(family: ChainFamily): FamilyFees {
  return fees[family];
}
