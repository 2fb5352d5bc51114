import type { EffectRequest } from '../chain-client';
import type { InclusionEffect } from '../types';
import type { Executed } from './answers';
import { toBase58 } from './codec/base58';
import { type MessageParts, readParts } from './codec/parts';
import type { SolanaNode } from './node';

/** What a finalized transaction has done; null: the node knows none of this id. */
export async function findEffect(
  node: SolanaNode,
  { id, unsigned }: Omit<EffectRequest, 'intent'>,
): Promise<InclusionEffect | null> {
  const executed = await node.transaction(id);
  if (!executed) return null;
  const block = await node.header(executed.slot);
  if (!block) throw new Error('the block of a finalized transaction is missing');
  return toEffect(executed, block, unsigned);
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
  const [had, has] = [before[account], after[account]];
  if (typeof had !== 'bigint' || typeof has !== 'bigint') throw new Error('the answer does not say exactly what was paid');
  return had - has;
}

/** A token may keep a part of what is paid. */
function toMoved(
  { keys, tokensBefore, tokensAfter }: Executed,
  { coins, tokens }: MessageParts,
): Pick<InclusionEffect, 'debited' | 'received'> {
  if (tokens === null) return { debited: coins, received: coins };
  const gained = (account: Buffer): bigint | null => {
    const address = toBase58(account);
    const [had, has] = [tokensBefore, tokensAfter].map((list) => list.find((it) => keys[it.account] === address)?.amount);
    return had === undefined && has === undefined ? null : (has ?? 0n) - (had ?? 0n);
  };
  const [lost, received] = [gained(tokens.source), gained(tokens.destination)];
  return { debited: lost === null ? null : -lost, received };
}
