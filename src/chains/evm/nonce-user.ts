import type { ChainDefinition } from '../types';
import { isAuthentic } from './authentic';
import { NodeRefusal, type RpcCall } from './rpc';
import { quantity, type RpcBlock, type RpcTransaction } from './rpc-types';

export interface Sender {
  address: string;
  nonce: number;
}

/** The transaction that has used up a nonce. */
export interface NonceUser {
  transaction: RpcTransaction;
  block: { number: number; hash: string };
}

/**
 * The sender's transaction with this nonce, if it is in this block or before it; null while none is. `unknown` where this node cannot
 * show it: it has pruned the states or blocks that are needed, or what it shows does not hash to its id.
 */
export async function findNonceUser(
  call: RpcCall,
  chain: ChainDefinition,
  sender: Sender,
  block: number,
): Promise<NonceUser | 'unknown' | null> {
  if (block < 0) return null;
  try {
    if ((await nonceAt(call, sender.address, block)) <= sender.nonce) return null;
    const user = await findUser(call, sender, block);
    return user && (await isAuthentic(user.transaction, chain)) ? user : 'unknown';
  } catch (error) {
    if (error instanceof NodeRefusal) return 'unknown';
    throw error;
  }
}

/**
 * The same for a transaction that is known to have used it up, as the follower has seen: only its block is needed, which a node keeps that
 * has pruned the states. null: the node shows no such transaction of the sender in this block or before it.
 */
export async function findKnownUser(
  call: RpcCall,
  chain: ChainDefinition,
  { address, nonce }: Sender,
  { id, block: upTo }: { id: string; block: number },
): Promise<NonceUser | null> {
  const transaction = await call<RpcTransaction | null>('eth_getTransactionByHash', [id]);
  if (!transaction?.blockNumber || Number(transaction.blockNumber) > upTo) return null;
  if (transaction.from.toLowerCase() !== address.toLowerCase() || Number(transaction.nonce) !== nonce) return null;
  const number = Number(transaction.blockNumber);
  const block = await call<RpcBlock | null>('eth_getBlockByNumber', [quantity(number), false]);
  if (!block || block.hash !== transaction.blockHash || !(await isAuthentic(transaction, chain))) return null;
  return { transaction, block: { number, hash: block.hash } };
}

async function findUser(call: RpcCall, { address, nonce }: Sender, usedUpAt: number): Promise<NonceUser | null> {
  const number = await findBlockOfNonce(call, { address, nonce }, usedUpAt);
  const block = await call<RpcBlock | null>('eth_getBlockByNumber', [quantity(number), true]);
  const transaction = block?.transactions.find(
    ({ from, nonce: used }) => from.toLowerCase() === address.toLowerCase() && Number(used) === nonce,
  );
  return block && transaction ? { transaction, block: { number, hash: block.hash } } : null;
}

/** The first block after which the nonce was used up: back in growing steps, then by halves. */
async function findBlockOfNonce(call: RpcCall, { address, nonce }: Sender, usedUpAt: number): Promise<number> {
  let after = usedUpAt;
  let before = usedUpAt;
  for (let step = 1; before >= 0 && after === before; step *= 2) {
    before = usedUpAt - step;
    const count = before < 0 ? 0 : await nonceAt(call, address, before);
    if (count > nonce) after = before;
  }
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if ((await nonceAt(call, address, middle)) > nonce) after = middle;
    else before = middle;
  }
  return after;
}

/** Transactions of the sender up to a block. @throws NodeRefusal when the node no longer has the state of that block. */
async function nonceAt(call: RpcCall, address: string, block: number): Promise<number> {
  return Number(await call<string>('eth_getTransactionCount', [address, quantity(block)]));
}
