import type { AttemptState, KnownAttempt } from '../chain-client';
import type { InclusionEffect } from '../types';
import { fetchEffects } from './effects';
import type { RpcCall } from './rpc';
import { quantity, type RpcBlock } from './rpc-types';

/** The attempt as a block of the chain has it, under one of these ids; null: none has. */
export async function stateOfIncluded(
  call: RpcCall,
  head: number,
  { intent }: KnownAttempt,
  ids: string[],
): Promise<AttemptState | null> {
  const effects = await fetchEffects(
    call,
    ids.map((id) => ({ id, intent })),
  );
  for (const [id, effect] of effects) {
    const state = effect && (await inCanonical(call, head, id, effect));
    if (state) return state;
  }
  return null;
}

/** null: the chain has another block at that height. */
export async function inCanonical(
  call: RpcCall,
  head: number,
  id: string,
  effect: InclusionEffect,
): Promise<AttemptState | null> {
  const canonical = await call<RpcBlock | null>('eth_getBlockByNumber', [quantity(effect.blockNumber), false]);
  if (canonical?.hash !== effect.blockHash) return null;
  return { state: 'included', id, depth: Math.max(1, head - effect.blockNumber + 1), effect };
}
