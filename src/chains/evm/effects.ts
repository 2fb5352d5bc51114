import type { ExpectedTransfer } from '../adapter';
import type { InclusionEffect } from '../types';
import type { Hex } from '../types';
import type { RpcCall } from './rpc';
import { transferEvent, type RpcReceipt, type RpcTransaction } from './rpc-types';

export interface EffectRequest {
  hash: Hex;
  movement: ExpectedTransfer;
}

/** Effects of the included ones among `items`; receipts that the node does not have (yet) are left out. */
export async function fetchEffects(call: RpcCall, items: readonly EffectRequest[]): Promise<Map<Hex, InclusionEffect>> {
  const found = await Promise.all(
    items.map(async ({ hash, movement }) => {
      const receipt = await call<RpcReceipt | null>('eth_getTransactionReceipt', [hash]);
      if (!receipt?.blockHash) return null;
      const value = movement.tokenContract === null ? await fetchValue(call, hash) : 0n;
      return value === null ? null : ([hash, toEffect(receipt, movement, value)] as const);
    }),
  );
  return new Map(found.filter((entry) => entry !== null));
}

async function fetchValue(call: RpcCall, hash: Hex): Promise<bigint | null> {
  const transaction = await call<RpcTransaction | null>('eth_getTransactionByHash', [hash]);
  return transaction ? BigInt(transaction.value) : null;
}

/**
 * Judged by what happened, not by what was asked: a token's movement is what its Transfer events say. What left the
 * sender and what reached the recipient are summed apart, since a token may take a fee on the way. The OP stack's
 * operator fee is not in here: it is zero on every chain of the registry, and its formula has changed once already.
 */
export function toEffect(receipt: RpcReceipt, movement: ExpectedTransfer, value: bigint): InclusionEffect {
  const success = receipt.status === '0x1';
  const fee = BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice ?? '0x0') + BigInt(receipt.l1Fee ?? '0x0');
  const moved = success ? movedBy(receipt, movement, value) : { debited: null, received: null };
  return { blockNumber: Number(receipt.blockNumber), blockHash: receipt.blockHash, success, fee, ...moved };
}

function movedBy(
  receipt: RpcReceipt,
  { from, to, tokenContract }: ExpectedTransfer,
  value: bigint,
): Pick<InclusionEffect, 'debited' | 'received'> {
  if (tokenContract === null) return { debited: value, received: value };
  const contract = tokenContract.toLowerCase();
  const events = receipt.logs
    .map(transferEvent)
    .filter((event) => event !== null)
    .filter(({ contractKey }) => contractKey === contract);
  return {
    debited: sum(events.filter(({ fromKey }) => fromKey === from.toLowerCase())),
    received: sum(events.filter(({ toKey }) => toKey === to.toLowerCase())),
  };
}

const sum = (events: { amount: bigint }[]): bigint | null =>
  events.length === 0 ? null : events.reduce((total, { amount }) => total + amount, 0n);
