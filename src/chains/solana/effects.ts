import type { EffectRequest } from '../chain-client';
import type { InclusionEffect } from '../types';
import { type Executed, toLamports } from './answers';
import { toBase58 } from './codec/base58';
import { type MessageParts, readParts } from './codec/parts';
import type { SolanaNode } from './node';

/**
 * What a finalized transaction has done; null: the node knows none of this id. `head`: the newest finalized slot, where it is known; a node may
 * show what is in a later one, although it was asked for what is final.
 */
export async function findEffect(
  node: SolanaNode,
  { id, unsigned }: Omit<EffectRequest, 'intent'>,
  head = Infinity,
): Promise<InclusionEffect | null> {
  const executed = await node.transaction(id);
  if (!executed || executed.slot > head) return null;
  const block = await node.header(executed.slot);
  if (!block) throw new Error('the block of a finalized transaction is missing');
  return toEffect(executed, block, unsigned);
}

/** The same. @throws Error for an answer that does not show both sides of a payment. */
export async function findWholeEffect(node: SolanaNode, item: Omit<EffectRequest, 'intent'>): Promise<InclusionEffect | null> {
  const effect = await findEffect(node, item);
  if (effect?.success && (effect.debited === null || effect.received === null))
    throw new Error('the answer does not say exactly which tokens were paid');
  return effect;
}

/** `executed`: a transaction of these bytes, in this block. @throws Error for one of other bytes. */
export function toEffect(
  executed: Executed,
  block: { slot: number; blockhash: string },
  unsigned: EffectRequest['unsigned'],
): InclusionEffect {
  const parts = readParts(unsigned);
  if (!executed.message.equals(parts.message)) throw new Error('the transaction is not made of the attempt’s bytes');
  const { success } = executed;
  const moved = success ? toMoved(executed, parts) : { debited: null, received: null };
  const fee = parts.isFeePayer ? lostBy(executed, 0) - (success ? parts.coins : 0n) : 0n;
  return { blockNumber: block.slot, blockHash: block.blockhash, success, fee, ...moved };
}

/** Signature, priority fee and rent are what the payer has less, beside a payment. */
function lostBy({ before, after }: Executed, account: number): bigint {
  const [had, has] = [toLamports(before[account]), toLamports(after[account])];
  if (had === null || has === null) throw new Error('the answer does not say exactly what was paid');
  return had - has;
}

/** A token may keep a part of what is paid. */
function toMoved(
  { keys, tokensBefore, tokensAfter }: Executed,
  { coins, tokens }: MessageParts,
): Pick<InclusionEffect, 'debited' | 'received'> {
  if (tokens === null) return { debited: coins, received: coins };
  const amountIn = (list: Executed['tokensBefore'], account: Buffer): bigint | undefined => {
    const address = toBase58(account);
    return list.find((it) => keys[it.account] === address)?.amount;
  };
  const [had, left] = [tokensBefore, tokensAfter].map((list) => amountIn(list, tokens.source));
  // the transaction may have made the account
  const [earlier = 0n, later] = [tokensBefore, tokensAfter].map((list) => amountIn(list, tokens.destination));
  return {
    debited: had === undefined || left === undefined ? null : had - left,
    received: later === undefined ? null : later - earlier,
  };
}
