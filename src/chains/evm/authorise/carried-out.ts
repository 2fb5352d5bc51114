import { type Address, getAddress, toEventSelector } from 'viem';
import type { AuthorisationAction, Hex, InclusionEffect, TransactionIntent } from '../../types';
import { getPayment } from '../codec/payment';
import { eip3009Abi, exactProxyAbi, uptoProxyAbi } from '../payments/contracts';
import { readAnySettlement, settlingFunctions } from '../payments/read-calldata';
import type { RpcCall } from '../rpc';
import { transferEvent, type RpcLog, type RpcReceipt, type RpcTransaction } from '../rpc-types';
import { nonceBytes, toIdentity, toMethod } from './bytes';

/** EIP-3009: authorizer and nonce. */
export const usedTopic: Hex = toEventSelector('AuthorizationUsed(address,bytes32)');

/** The payment that a transaction of somebody else carries out. */
export interface CarriedOut {
  /** Of the payer, in canonical form. */
  payerKey: string;
  identity: string;
  /** What is taken; atomic units. */
  amount: bigint;
}

const selectors: ReadonlySet<string> = new Set(
  [eip3009Abi, exactProxyAbi, uptoProxyAbi].flatMap((abi) => [...settlingFunctions(abi)]),
);

/**
 * The payment that a call carries out if it succeeds, from the call alone; null for any other call, and for one by way of another
 * contract.
 */
export function readCarriedOut({ to, input }: { to: Hex | null; input: Hex }): CarriedOut | null {
  if (to === null || !selectors.has(input.slice(0, 10))) return null;
  try {
    const read = readAnySettlement({ to: getAddress(to), data: input });
    if (!read) return null;
    const { method, payer, nonce, token } = read.payment;
    const identity = toIdentity({ method, token: token.contract as Address, from: payer as Address, nonce: BigInt(nonce) });
    return { payerKey: payer.toLowerCase(), identity, amount: read.amount };
  } catch {
    // calldata that no contract takes
    return null;
  }
}

/**
 * What an included transaction has done about a payment: the token's own event names the authorisation; Permit2 tells nobody, so that the
 * call has to. null: nothing that can be seen, or nothing that was taken. Whoever has sent it pays its fee.
 */
export async function fetchCarriedOut(
  call: RpcCall,
  receipt: RpcReceipt,
  intent: TransactionIntent,
  { method, nonce }: AuthorisationAction,
): Promise<InclusionEffect | null> {
  if (receipt.status !== '0x1') return null;
  const { tokenContract, amount } = getPayment(intent);
  const [token, from] = [getAddress(tokenContract as string), getAddress(intent.from)];
  const identity = toIdentity({ method: toMethod(method), token, from, nonce: BigInt(nonce) });
  if (method === 'eip3009') return isUsedIn(receipt, token, from, BigInt(nonce)) ? toCarriedOut(receipt, intent, amount) : null;
  const transaction = await call<RpcTransaction | null>('eth_getTransactionByHash', [receipt.transactionHash]);
  const carried = transaction && readCarriedOut(transaction);
  // what has used the payment up for 0 is a proof that it never moves anything, and no end that shows a payment
  return carried?.identity === identity && carried.amount > 0n ? toCarriedOut(receipt, intent, carried.amount) : null;
}

const isUsedIn = ({ logs }: RpcReceipt, token: Address, from: Address, nonce: bigint): boolean =>
  logs.some(
    ({ address, topics: [topic, authorizer, used] }) =>
      getAddress(address) === token &&
      topic === usedTopic &&
      authorizer?.slice(-40).toLowerCase() === from.slice(2).toLowerCase() &&
      used?.toLowerCase() === nonceBytes(nonce),
  );

/** Other payments of the payer may be in the same transaction: never more than `amount`, which is what this one takes. */
export function toCarriedOut(receipt: RpcReceipt, intent: TransactionIntent, amount: bigint): InclusionEffect {
  const paid = transfersOf(receipt.logs, intent).reduce((sum, value) => sum + value, 0n);
  const moved = paid === 0n ? null : paid > amount ? amount : paid;
  const { blockNumber, blockHash } = receipt;
  return { blockNumber: Number(blockNumber), blockHash, success: true, fee: 0n, debited: moved, received: moved };
}

/** What the logs show to have gone from the payer to the recipient; atomic units. */
export function transfersOf(logs: readonly RpcLog[], intent: TransactionIntent): bigint[] {
  const { recipient, tokenContract } = getPayment(intent);
  return logs.flatMap((log) => {
    const event = transferEvent(log);
    const isPart =
      event?.contractKey === tokenContract?.toLowerCase() &&
      event?.fromKey === intent.from.toLowerCase() &&
      event.toKey === recipient.toLowerCase();
    return event && isPart ? [event.amount] : [];
  });
}
