import type { EffectRequest } from '../chain-client';
import type { InclusionEffect } from '../types';
import type { Header, Receipt } from './answers';
import { toAddress } from './codec/address';
import { decode } from './codec/transaction';
import type { TronNode } from './node';
import { readTransfer } from './transfer-event';

export interface Solidified {
  block: Header;
  effect: InclusionEffect;
}

/** What a solidified transaction has done; null: none has this id. */
export async function findEffect(node: TronNode, { id, unsigned }: Omit<EffectRequest, 'intent'>): Promise<Solidified | null> {
  const receipt = await node.findReceipt(id);
  return receipt && toSolidified(node, receipt, unsigned);
}

/** Its effect alone. @throws Error for a receipt that contradicts itself: what was reverted has left no log. */
export async function findWholeEffect(
  node: TronNode,
  { id, unsigned }: Omit<EffectRequest, 'intent'>,
): Promise<InclusionEffect | null> {
  const receipt = await node.findReceipt(id);
  if (receipt && !receipt.success && receipt.logs.length > 0) throw new Error('the receipt of a failure has logs');
  return receipt && (await toSolidified(node, receipt, unsigned)).effect;
}

async function toSolidified(node: TronNode, receipt: Receipt, unsigned: EffectRequest['unsigned']): Promise<Solidified> {
  const block = await node.solidHeader(receipt.blockNumber);
  if (!block) throw new Error('the block of a solidified transaction is missing');
  return { block, effect: toEffect(receipt, block, unsigned) };
}

/**
 * The amount of TRX is in the bytes that the id is the hash of; that of a token is what its Transfer events say, since a token may keep
 * a fee.
 */
function toEffect(receipt: Receipt, block: Header, unsigned: EffectRequest['unsigned']): InclusionEffect {
  const { success, fee } = receipt;
  const moved = success ? toMoved(receipt, unsigned) : { debited: null, received: null };
  return { blockNumber: block.number, blockHash: block.id, success, fee, ...moved };
}

function toMoved({ logs }: Receipt, unsigned: EffectRequest['unsigned']): Pick<InclusionEffect, 'debited' | 'received'> {
  const { owner, call } = decode(unsigned);
  if (call.token === null) return { debited: call.amount, received: call.amount };
  const [payer, recipient, contract] = [owner, call.recipient, call.token].map((bytes) => toAddress(bytes).key);
  const events = logs
    .map(readTransfer)
    .filter((event) => event !== null)
    .filter((event) => event.contract === contract);
  return {
    debited: sum(events.filter(({ from }) => from === payer)),
    received: sum(events.filter(({ to }) => to === recipient)),
  };
}

const sum = (events: { amount: bigint }[]): bigint | null =>
  events.length === 0 ? null : events.reduce((total, { amount }) => total + amount, 0n);
