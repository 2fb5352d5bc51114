import type { AttemptState, AttemptStatus, FindOrigins, ImpossibleProof, KnownAttempt, Reservation } from '../chain-client';
import type { EndpointList } from '../endpoints';
import { compareProofs, withAgreement } from '../proofs';
import type { ChainDefinition, Hex, InclusionEffect } from '../types';
import type { BitcoinBackend } from './backend';
import { parseRawTransaction } from './block';
import { decode, getFee, sum } from './codec/transaction';
import { type Descent, findDescent } from './origins';

type Endpoints = Pick<EndpointList<BitcoinBackend>, 'run' | 'each' | 'size'>;

/** The state of every attempt, seen by one node. That one is impossible counts where every configured endpoint shows the same proof. */
export async function askStatus(
  endpoints: Endpoints,
  chain: ChainDefinition,
  attempts: KnownAttempt[],
  reservations: Reservation[],
  findOrigins: FindOrigins,
): Promise<AttemptStatus[]> {
  const states = await endpoints.run((node) => askNode(node, chain, attempts, reservations, findOrigins));
  if (endpoints.size === 1) return states;
  return Promise.all(
    states.map(async (status) => (status.state === 'impossible' ? await agree(endpoints, chain, status) : status)),
  );
}

/** An endpoint that has not come so far yet is asked again, and nobody is told. */
async function agree(
  endpoints: Endpoints,
  { finalityDepth }: ChainDefinition,
  { attempt, proof, state }: AttemptStatus & { state: 'impossible' },
): Promise<AttemptStatus> {
  const { input, used_by: usedBy, block_number: block, block_hash: hash } = proof;
  if (typeof input !== 'string' || usedBy === undefined) throw new Error('it is no proof of a spent output');
  const said = await compareProofs(endpoints, async (node) => {
    const final = (await node.height()) - finalityDepth + 1;
    if (final < Number(block)) return 'early';
    const same = await proveSpent(node, final, input, usedBy);
    return same?.block_hash === hash ? 'same' : 'other';
  });
  if (said === 'same') return { attempt, state, proof: withAgreement(proof, endpoints.size) };
  return { attempt, state: 'absent', ...(said === 'other' && { isUnagreed: true }) };
}

/**
 * That a node does not know an attempt proves nothing: somebody may hold the signed bytes. Impossible is what spends an input that another
 * transaction has spent in a block that is final, and what descends from such a one.
 */
async function askNode(
  node: BitcoinBackend,
  chain: ChainDefinition,
  attempts: KnownAttempt[],
  reservations: Reservation[],
  findOrigins: FindOrigins,
): Promise<AttemptStatus[]> {
  const height = await node.height();
  const finalHeight = height - chain.finalityDepth + 1;
  return Promise.all(
    attempts.map(async (attempt): Promise<AttemptStatus> => {
      const state = await findState(node, height, attempt);
      if (state.state === 'included') return { attempt: attempt.attempt, ...state };
      const spent = reservations.filter(({ resource }) => getInputs(attempt).has(resource));
      const descent = await findDescent(
        findOrigins,
        spent.flatMap(({ resource, isInBlock }) => (isInBlock ? [] : [resource])),
      );
      const proof = await findProof(node, finalHeight, attempt, spent, descent);
      if (proof) return { attempt: attempt.attempt, state: 'impossible', proof };
      const isUnfunded = state.state === 'absent' && (await isOneUnknown(node, descent.foreign));
      return { attempt: attempt.attempt, ...state, ...(isUnfunded && { isUnfunded }) };
    }),
  );
}

const getInputs = ({ unsigned }: KnownAttempt): Set<string> => new Set(decode(unsigned).coins.map(({ resource }) => resource));

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

/**
 * Without an output that another transaction keeps from being made, nothing that was signed for the transfer can be executed: every attempt
 * spends the first input, and every payment all inputs of the first attempt. What has spent an output of the account itself may be an
 * attempt that is not on record: that does not end a transfer.
 */
async function findProof(
  node: BitcoinBackend,
  finalHeight: number,
  { messageKey: id }: KnownAttempt,
  spent: Reservation[],
  { conflicts }: Descent,
): Promise<ImpossibleProof | null> {
  for (const { resource, usedBy } of spent) {
    if (usedBy === null || usedBy === id) continue;
    const proof = await proveSpent(node, finalHeight, resource, usedBy);
    if (proof) return proof;
  }
  for (const { ancestor, resource, usedBy } of conflicts) {
    const proof = await proveSpent(node, finalHeight, resource, usedBy);
    if (proof) return { ...proof, ancestor, ends: true };
  }
  return null;
}

/** The rows say where to look; what counts is what the node shows. */
async function proveSpent(
  node: BitcoinBackend,
  finalHeight: number,
  resource: string,
  usedBy: string,
): Promise<ImpossibleProof | null> {
  const spender = await node.findTransaction(usedBy);
  if (!spender?.block || spender.block.number > finalHeight) return null;
  const shown = parseRawTransaction(await node.transaction(usedBy));
  if (shown.id !== usedBy || !shown.inputs.some((input) => input.resource === resource)) return null;
  return { input: resource, used_by: usedBy, block_number: spender.block.number, block_hash: spender.block.hash };
}

async function isOneUnknown(node: BitcoinBackend, ids: readonly string[]): Promise<boolean> {
  for (const id of ids) if ((await node.findTransaction(id)) === null) return true;
  return false;
}

/** A transaction in a block has done all that its bytes say: its id names its inputs, and their amounts were signed. */
export function toEffect(unsigned: Hex, block: { number: number; hash: string }): InclusionEffect {
  const transaction = decode(unsigned);
  const paid = sum(transaction.payments);
  const { number: blockNumber, hash: blockHash } = block;
  return { blockNumber, blockHash, success: true, fee: getFee(transaction), debited: paid, received: paid };
}
