import type { ChainDefinition } from '../types';

export const toCaip2 = (chainId: number): string => `eip155:${chainId}`;

/** The numeric chain id of EVM transactions and nodes. @throws Error for a chain of another namespace. */
export function parseChainId({ name, caip2 }: Pick<ChainDefinition, 'name' | 'caip2'>): number {
  const [, digits] = /^eip155:([1-9]\d{0,15})$/.exec(caip2) ?? [];
  if (!digits) throw new Error(`${name} has no chain id: ${caip2}`);
  return Number(digits);
}
