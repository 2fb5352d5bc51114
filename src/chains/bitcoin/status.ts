import type { AttemptState, AttemptStatus, KnownAttempt, Reservation } from '../family';
import type { ChainDefinition, Hex, InclusionEffect, JsonObject } from '../types';
import type { BitcoinBackend } from './backend';
import { parseRawTransaction } from './block';
import { decode, getFee, sum } from './codec/transaction';

/**
 * The state of every attempt, seen by one node. That it does not know an attempt proves nothing: somebody may hold the signed bytes.
 * Impossible is what spends an input that another transaction has spent in a block that is final.
 */
export async function askStatus(
  node: BitcoinBackend,
  chain: ChainDefinition,
  attempts: KnownAttempt[],
  reservations: Reservation[],
): Promise<AttemptStatus[]> {
  const height = await node.height();
  return Promise.all(
    attempts.map(async (attempt): Promise<AttemptStatus> => {
      const state = await findState(node, height, attempt);
      if (state.state === 'included') return { attempt: attempt.attempt, ...state };
      const proof = await findProof(node, height - chain.finalityDepth + 1, attempt, reservations);
      return { attempt: attempt.attempt, ...(proof ? { state: 'impossible', proof } : state) };
    }),
  );
}

/** The id does not depend on the signatures: there is no other under which an attempt could be found. */
async function findState(
  node: BitcoinBackend,
  height: number,
  { messageKey: id, unsigned }: KnownAttempt,
): Promise<AttemptState> {
  const found = await node.findTransaction(id);
  if (!found) return { state: 'absent' };
  const { block } = found;
  if (!block) return { state: 'pending', id };
  return { state: 'included', id, depth: Math.max(1, height - block.number + 1), effect: toEffect(unsigned, block) };
}

/** The rows say where to look; what counts is what the node shows. */
async function findProof(
  node: BitcoinBackend,
  finalHeight: number,
  { messageKey: id, unsigned }: KnownAttempt,
  reservations: Reservation[],
): Promise<JsonObject | null> {
  const inputs = new Set(decode(unsigned).coins.map(({ resource }) => resource));
  for (const { resource, usedBy } of reservations) {
    if (usedBy === null || usedBy === id || !inputs.has(resource)) continue;
    const spender = await node.findTransaction(usedBy);
    if (!spender?.block || spender.block.number > finalHeight) continue;
    const shown = parseRawTransaction(await node.transaction(usedBy));
    if (shown.id !== usedBy || !shown.inputs.some((input) => input.resource === resource)) continue;
    return { input: resource, used_by: usedBy, block_number: spender.block.number, block_hash: spender.block.hash };
  }
  return null;
}

/** A transaction in a block has done all that its bytes say: its id names its inputs, and their amounts were signed. */
export function toEffect(unsigned: Hex, block: { number: number; hash: string }): InclusionEffect {
  const transaction = decode(unsigned);
  const paid = sum(transaction.payments);
  const { number: blockNumber, hash: blockHash } = block;
  return { blockNumber, blockHash, success: true, fee: getFee(transaction), debited: paid, received: paid };
}
