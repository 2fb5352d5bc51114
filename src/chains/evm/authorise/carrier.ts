import { pad } from 'viem';
import type { InclusionEffect, TransactionIntent } from '../../types';
import { NodeRefusal, type RpcCall } from '../rpc';
import { assertWhole } from '../receipt';
import { quantity, transferTopic, type RpcBlock, type RpcLog, type RpcReceipt, type RpcTransaction } from '../rpc-types';
import { type Authorisation, lastSecond, nonceBytes, toIdentity } from './bytes';
import { readCarriedOut, toCarriedOut, transfersOf, usedTopic } from './carried-out';
import { isUsed } from './nonce';

/** Blocks of one request for logs at first, and at least: public endpoints refuse more. */
const chunk = { most: 1_000, least: 20 };
/** Requests for logs of one search: two hours of blocks of 0.25 s are 29 ranges of `chunk.most`; ranges that are refused become smaller. */
const maxRequests = 200;

/** The transaction that has carried out a payment, and what it has done. */
export interface Carrier {
  id: string;
  effect: InclusionEffect;
  /** It has taken 0: the payment is used up, and nothing has moved. */
  isForNothing: boolean;
}

/**
 * The transaction that has used a payment's nonce up, among the blocks in which it could be executed. One that names the payment, by the
 * token's event or in its call, is it; of the others the one before whose block the nonce was free, and after it was not.
 * @returns null: the node shows none
 */
export async function findCarrier(
  call: RpcCall,
  authorisation: Authorisation,
  intent: TransactionIntent,
  head: number,
): Promise<Carrier | null> {
  const from = await firstBlockAt(call, head, authorisation.validAfter);
  const to = Math.min(head, await firstBlockAt(call, head, lastSecond(authorisation) + 1n));
  const { method } = authorisation;
  const payer = pad(authorisation.from).toLowerCase();
  const topics =
    method === 'eip3009'
      ? [usedTopic, payer, nonceBytes(authorisation.nonce)]
      : [transferTopic, payer, pad(authorisation.to).toLowerCase()];
  const logs = await readLogs(call, { address: authorisation.token, topics }, from, to);
  const ids = [...new Set(logs.map(({ transactionHash }) => transactionHash))];
  const unnamed: { id: string; block: number }[] = [];
  for (const id of ids) {
    // the token's event names it
    if (method === 'eip3009') return withEffect(call, intent, id, authorisation.value);
    const transaction = await call<RpcTransaction | null>('eth_getTransactionByHash', [id]);
    const carried = transaction && readCarriedOut(transaction);
    if (carried?.identity === toIdentity(authorisation))
      return withEffect(call, intent, id, method === 'permit2_upto' ? carried?.amount : authorisation.value);
    const isOwn = transaction?.from.toLowerCase() === authorisation.from.toLowerCase();
    const log = logs.find(({ transactionHash }) => transactionHash === id);
    if (carried === null && log && !isOwn) unnamed.push({ id, block: Number(log.blockNumber) });
  }
  return findUnnamed(call, authorisation, intent, unnamed);
}

/** By way of another contract, whose call does not name the payment. Two in one block cannot be told apart. */
async function findUnnamed(
  call: RpcCall,
  authorisation: Authorisation,
  intent: TransactionIntent,
  candidates: { id: string; block: number }[],
): Promise<Carrier | null> {
  for (const block of new Set(candidates.map((candidate) => candidate.block))) {
    const [first, ...others] = candidates.filter((candidate) => candidate.block === block);
    if (!(await isUsed(call, authorisation, block)) || (await isUsed(call, authorisation, block - 1))) continue;
    return first && others.length === 0 ? withEffect(call, intent, first.id, undefined) : null;
  }
  return null;
}

/** `amount`: what its call takes; undefined: nothing says so but the one transfer in it. */
async function withEffect(
  call: RpcCall,
  intent: TransactionIntent,
  id: string,
  amount: bigint | undefined,
): Promise<Carrier | null> {
  const receipt = await call<RpcReceipt | null>('eth_getTransactionReceipt', [id]);
  if (receipt?.status !== '0x1') return null;
  const [only, ...others] = transfersOf(receipt.logs, intent);
  const taken = amount ?? (others.length === 0 ? only : undefined);
  if (taken === undefined) return null;
  const effect = toCarriedOut(receipt, intent, taken);
  const isForNothing = taken === 0n && [only, ...others].every((moved) => moved === 0n);
  // it ends the payment
  if (isForNothing) assertWhole(receipt, id);
  return { id, effect, isForNothing };
}

/** Of all blocks from..to, oldest first. @throws NodeRefusal when the node refuses even a few blocks. */
async function readLogs(
  call: RpcCall,
  filter: { address: string; topics: (string | null)[] },
  from: number,
  to: number,
): Promise<RpcLog[]> {
  const logs: RpcLog[] = [];
  let size = chunk.most;
  for (let next = from, count = 0; next <= to; count += 1) {
    if (count >= maxRequests) throw new Error(`it takes more than ${maxRequests} requests to look for the payment`);
    const last = Math.min(next + size - 1, to);
    try {
      logs.push(...(await call<RpcLog[]>('eth_getLogs', [{ ...filter, fromBlock: quantity(next), toBlock: quantity(last) }])));
      next = last + 1;
    } catch (error) {
      if (!(error instanceof NodeRefusal) || size <= chunk.least) throw error;
      size = Math.max(chunk.least, Math.floor(size / 4));
    }
  }
  return logs;
}

/** Number of the first block at or after a time (seconds since the epoch); that of the head when there is none. */
async function firstBlockAt(call: RpcCall, head: number, time: bigint): Promise<number> {
  let [low, high] = [head, head];
  for (let step = 1; low > 0 && (await timeOf(call, low)) >= time; step *= 2) [low, high] = [Math.max(0, low - step), low];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if ((await timeOf(call, middle)) >= time) high = middle;
    else low = middle + 1;
  }
  return high;
}

async function timeOf(call: RpcCall, number: number): Promise<bigint> {
  const block = await call<RpcBlock | null>('eth_getBlockByNumber', [quantity(number), false]);
  if (!block) throw new Error(`the node does not show block ${number}`);
  return BigInt(block.timestamp);
}
