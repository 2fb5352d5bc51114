import type { InclusionEffect, TransactionIntent } from '../types';
import { getPayment } from './codec/payment';
import type { RpcCall } from './rpc';
import { transferEvent, type RpcReceipt, type RpcTransaction } from './rpc-types';

export interface EffectRequest {
  id: string;
  intent: TransactionIntent;
}

/** Effects of those `items` that are included; items without a receipt on the node (yet) are left out. */
export async function fetchEffects(call: RpcCall, items: readonly EffectRequest[]): Promise<Map<string, InclusionEffect>> {
  const found = await Promise.all(
    items.map(async ({ id, intent }) => {
      const receipt = await call<RpcReceipt | null>('eth_getTransactionReceipt', [id]);
      if (!receipt?.blockHash || !isOf(receipt, intent)) return null;
      const value = getPayment(intent).tokenContract === null ? await fetchValue(call, id) : 0n;
      return value === null ? null : ([id, toEffect(receipt, intent, value)] as const);
    }),
  );
  return new Map(found.filter((entry) => entry !== null));
}

/** A transaction of somebody else that was reverted leaves a payment as it was: another one may carry it out. */
const isOf = ({ status }: RpcReceipt, { action }: TransactionIntent): boolean =>
  action?.type !== 'authorisation' || status === '0x1';

async function fetchValue(call: RpcCall, id: string): Promise<bigint | null> {
  const transaction = await call<RpcTransaction | null>('eth_getTransactionByHash', [id]);
  return transaction ? BigInt(transaction.value) : null;
}

/**
 * Computed from what happened, not from what was requested: token amounts come from Transfer events. The amount that left the
 * payer and the amount that reached the recipient are summed separately, since a token may keep a fee. The OP stack's operator fee
 * is not included: it is zero on every chain of the registry, and its formula has changed before.
 */
export function toEffect(receipt: RpcReceipt, intent: TransactionIntent, value: bigint): InclusionEffect {
  const success = receipt.status === '0x1';
  const moved = success ? movedBy(receipt, intent, value) : { debited: null, received: null };
  return {
    blockNumber: Number(receipt.blockNumber),
    blockHash: receipt.blockHash,
    success,
    fee: feeOf(receipt, intent),
    ...moved,
  };
}

/** Atomic units of the native coin; whoever carries out an authorised payment pays it. */
const feeOf = (receipt: RpcReceipt, { action }: TransactionIntent): bigint =>
  action?.type === 'authorisation'
    ? 0n
    : BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice ?? '0x0') + BigInt(receipt.l1Fee ?? '0x0');

function movedBy(receipt: RpcReceipt, intent: TransactionIntent, value: bigint): Pick<InclusionEffect, 'debited' | 'received'> {
  const { recipient, tokenContract, amount } = getPayment(intent);
  // the sender of a settlement is not the one who pays
  const payer = intent.action?.type === 'settlement' ? intent.action.payer : intent.from;
  if (tokenContract === null) return { debited: value, received: value };
  const contract = tokenContract.toLowerCase();
  const events = receipt.logs
    .map(transferEvent)
    .filter((event) => event !== null)
    .filter(({ contractKey }) => contractKey === contract);
  const sent = events.filter(({ fromKey }) => fromKey === payer.toLowerCase());
  const received = events.filter(({ toKey }) => toKey === recipient.toLowerCase());
  if (intent.action?.type !== 'authorisation') return { debited: sum(sent), received: sum(received) };
  // somebody else's transaction may carry out other payments beside this one
  const paid = sum(sent.filter(({ toKey }) => toKey === recipient.toLowerCase()));
  const moved = paid !== null && paid > amount ? amount : paid;
  return { debited: moved, received: moved };
}

const sum = (events: { amount: bigint }[]): bigint | null =>
  events.length === 0 ? null : events.reduce((total, { amount }) => total + amount, 0n);
