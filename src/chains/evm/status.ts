import type { AttemptState, AttemptStatus, KnownAttempt, Reservation } from '../family';
import type { ChainDefinition, JsonObject } from '../types';
import { fetchEffects } from './effects';
import { toMessageKey } from './message-key';
import { NodeRefusal, type RpcCall } from './rpc';
import { quantity, type RpcBlock, type RpcTransaction } from './rpc-types';

interface Sender {
  address: string;
  nonce: number;
}

/**
 * The state of every attempt on one nonce, seen by one node. That a node knows none of the ids proves nothing: another signature
 * over the same bytes has another id. Impossible is what shares its nonce with a transaction of the same sender that is final and
 * has other bytes; that transaction is looked up, which needs the states of the blocks around it. A node that has pruned
 * them proves nothing, and the answer is then absent.
 */
export async function fetchStatus(
  call: RpcCall,
  chain: ChainDefinition,
  attempts: KnownAttempt[],
  reservations: Reservation[],
): Promise<AttemptStatus[]> {
  const head = Number(await call<string>('eth_blockNumber', []));
  const sender = toSender(attempts, reservations);
  const finalBlock = head - chain.finalityDepth + 1;
  // before the ids are asked for: what is included in between is then found by its id
  const isUsedUp = finalBlock >= 0 && ((await nonceAt(call, sender.address, finalBlock)) ?? 0) > sender.nonce;
  const states = await Promise.all(attempts.map((attempt) => stateById(call, head, attempt)));
  if (isUsedUp && !states.some(({ state }) => state === 'included')) {
    const user = await findUser(call, sender, finalBlock);
    if (user) return judgeByUser(call, chain, head, attempts, user);
  }
  return attempts.map(({ attempt }, index) => ({ attempt, ...(states[index] ?? { state: 'absent' }) }));
}

function toSender(attempts: KnownAttempt[], reservations: Reservation[]): Sender {
  const address = attempts[0]?.intent.from;
  const ordinal = reservations[0]?.ordinal;
  if (address === undefined || ordinal === null || ordinal === undefined)
    throw new Error('attempts without a nonce have no state');
  return { address, nonce: Number(ordinal) };
}

async function stateById(call: RpcCall, head: number, attempt: KnownAttempt): Promise<AttemptState> {
  const included = await stateOfIncluded(call, head, attempt, attempt.ids);
  if (included) return included;
  const known = await Promise.all(attempt.ids.map((id) => call<RpcTransaction | null>('eth_getTransactionByHash', [id])));
  const pending = attempt.ids.find((_, index) => known[index] !== null);
  return pending === undefined ? { state: 'absent' } : { state: 'pending', id: pending };
}

async function stateOfIncluded(
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
    const canonical = await call<RpcBlock | null>('eth_getBlockByNumber', [quantity(effect.blockNumber), false]);
    if (canonical?.hash === effect.blockHash)
      return { state: 'included', id, depth: Math.max(1, head - effect.blockNumber + 1), effect };
  }
  return null;
}

interface NonceUser {
  transaction: RpcTransaction;
  block: { number: number; hash: string };
}

/** The nonce is used up for good: by one of the attempts under an id not seen before, or by something else. */
async function judgeByUser(
  call: RpcCall,
  chain: ChainDefinition,
  head: number,
  attempts: KnownAttempt[],
  { transaction, block }: NonceUser,
): Promise<AttemptStatus[]> {
  const key = toMessageKey(transaction, chain);
  const proof: JsonObject = {
    used_by: transaction.hash,
    nonce: Number(transaction.nonce),
    block_number: block.number,
    block_hash: block.hash,
  };
  return Promise.all(
    attempts.map(async (attempt): Promise<AttemptStatus> => {
      if (attempt.messageKey !== key) return { attempt: attempt.attempt, state: 'impossible', proof };
      const state = await stateOfIncluded(call, head, attempt, [transaction.hash]);
      return { attempt: attempt.attempt, ...(state ?? { state: 'absent' }) };
    }),
  );
}

/** The sender's transaction with this nonce, in or below a block at which the nonce was used up; null where that cannot be seen. */
async function findUser(call: RpcCall, { address, nonce }: Sender, usedUpAt: number): Promise<NonceUser | null> {
  const number = await findBlockOfNonce(call, { address, nonce }, usedUpAt);
  if (number === null) return null;
  const block = await call<RpcBlock | null>('eth_getBlockByNumber', [quantity(number), true]);
  const transaction = block?.transactions.find(
    ({ from, nonce: used }) => from.toLowerCase() === address.toLowerCase() && Number(used) === nonce,
  );
  return block && transaction ? { transaction, block: { number, hash: block.hash } } : null;
}

/** The first block after which the nonce was used up: back in growing steps, then by halves. */
async function findBlockOfNonce(call: RpcCall, { address, nonce }: Sender, usedUpAt: number): Promise<number | null> {
  let after = usedUpAt;
  let before = usedUpAt;
  for (let step = 1; before >= 0 && after === before; step *= 2) {
    before = usedUpAt - step;
    const count = before < 0 ? 0 : await nonceAt(call, address, before);
    if (count === null) return null;
    if (count > nonce) after = before;
  }
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    const count = await nonceAt(call, address, middle);
    if (count === null) return null;
    if (count > nonce) after = middle;
    else before = middle;
  }
  return after;
}

/** Transactions of the sender up to a block; null when the node no longer has the state of that block. */
async function nonceAt(call: RpcCall, address: string, block: number): Promise<number | null> {
  try {
    return Number(await call<string>('eth_getTransactionCount', [address, quantity(block)]));
  } catch (error) {
    if (error instanceof NodeRefusal) return null;
    throw error;
  }
}
