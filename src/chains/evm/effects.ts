import type { EffectRequest } from '../chain-client';
import type { InclusionEffect, TransactionIntent } from '../types';
import { fetchCarriedOut } from './authorise/carried-out';
import { getPayment } from './codec/payment';
import type { RpcCall } from './rpc';
import { assertWhole } from './receipt';
import { transferEvent, type RpcReceipt, type RpcTransaction } from './rpc-types';

type Included = Pick<EffectRequest, 'id' | 'intent'>;

/**
 * Effects of those `items` that are included; items without a receipt on the node (yet) are left out. null: the transaction does not carry
 * out the payment that the intent authorises.
 */
export async function fetchEffects(call: RpcCall, items: readonly Included[]): Promise<Map<string, InclusionEffect | null>> {
  const found = await Promise.all(items.map((item) => fetchEffect(call, item)));
  return new Map(found.filter((entry) => entry !== null));
}

async function fetchEffect(call: RpcCall, { id, intent }: Included): Promise<readonly [string, InclusionEffect | null] | null> {
  const receipt = await call<RpcReceipt | null>('eth_getTransactionReceipt', [id]);
  const effect = receipt?.blockHash ? await readEffect(call, receipt, { id, intent }) : undefined;
  return effect === undefined ? null : [id, effect];
}

/** The same of one, without what it may lack. @throws Error for a receipt that is not whole. */
export async function fetchWholeEffect(call: RpcCall, item: Included): Promise<InclusionEffect | null> {
  const receipt = await call<RpcReceipt | null>('eth_getTransactionReceipt', [item.id]);
  if (!receipt?.blockHash) return null;
  assertWhole(receipt, item.id);
  return (await readEffect(call, receipt, item)) ?? null;
}

/** undefined: the node does not show the transaction that it has the receipt of. */
async function readEffect(
  call: RpcCall,
  receipt: RpcReceipt,
  { id, intent }: Included,
): Promise<InclusionEffect | null | undefined> {
  if (intent.action?.type === 'authorisation') return fetchCarriedOut(call, receipt, intent, intent.action);
  const value = getPayment(intent).tokenContract === null ? await fetchValue(call, id) : 0n;
  return value === null ? undefined : toEffect(receipt, intent, value);
}

async function fetchValue(call: RpcCall, id: string): Promise<bigint | null> {
  const transaction = await call<RpcTransaction | null>('eth_getTransactionByHash', [id]);
  return transaction ? BigInt(transaction.value) : null;
}

/**
 * Computed from what happened, not from what was requested: token amounts come from Transfer events. The amount that left the
 * payer and the amount that reached the recipient are summed separately, since a token may keep a fee. The OP stack's operator fee
 * is not included: it is zero on every chain of the registry, and its formula has changed before.
 */
function toEffect(receipt: RpcReceipt, intent: TransactionIntent, value: bigint): InclusionEffect {
  const success = receipt.status === '0x1';
  const fee = BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice ?? '0x0') + BigInt(receipt.l1Fee ?? '0x0');
  const moved = success ? movedBy(receipt, intent, value) : { debited: null, received: null };
  return { blockNumber: Number(receipt.blockNumber), blockHash: receipt.blockHash, success, fee, ...moved };
}

function movedBy(receipt: RpcReceipt, intent: TransactionIntent, value: bigint): Pick<InclusionEffect, 'debited' | 'received'> {
  const { recipient, tokenContract } = getPayment(intent);
  // the sender of a settlement is not the one who pays
  const payer = intent.action?.type === 'settlement' ? intent.action.payer : intent.from;
  if (tokenContract === null) return { debited: value, received: value };
  const contract = tokenContract.toLowerCase();
  const events = receipt.logs
    .map(transferEvent)
    .filter((event) => event !== null)
    .filter(({ contractKey }) => contractKey === contract);
  return {
    debited: sum(events.filter(({ fromKey }) => fromKey === payer.toLowerCase())),
    received: sum(events.filter(({ toKey }) => toKey === recipient.toLowerCase())),
  };
}

const sum = (events: { amount: bigint }[]): bigint | null =>
  events.length === 0 ? null : events.reduce((total, { amount }) => total + amount, 0n);
