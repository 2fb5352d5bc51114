import { type AttemptView, firstConclusive } from '../attempt-view';
import type { AttemptState, AttemptStatus, EndpointView, KnownAttempt } from '../chain-client';
import type { EndpointList } from '../endpoints';
import type { Proofs } from '../proofs';
import type { ChainDefinition, Hex } from '../types';
import type { Header } from './answers';
import { transactionId } from './codec';
import { findEffect } from './effects';
import { findExpiry } from './expiry';
import type { TronNode } from './node';

type Endpoints = Pick<EndpointList<TronNode>, 'run' | 'some'>;

/** The state of every attempt, seen by one node: the first whose view is conclusive, or else the first that answers. */
export function askStatus(
  endpoints: Endpoints,
  chain: ChainDefinition,
  attempts: KnownAttempt[],
  proofs: Proofs,
): Promise<AttemptStatus[]> {
  return firstConclusive(
    (work) => endpoints.run(work),
    (node: TronNode) => fetchView(node, endpoints, chain, attempts, proofs),
  );
}

/** As `status`, of one transaction, and nothing remembered. @throws Error where the node lacks blocks that the proof needs. */
export async function proveAt(
  node: TronNode,
  endpoints: Endpoints,
  chain: ChainDefinition,
  unsigned: Hex,
): Promise<EndpointView | null> {
  const head = await node.solidHead();
  const id = transactionId(unsigned);
  if (await node.findReceipt(id)) return null;
  const { state } = await findExpiry(node, chain, head, unsigned);
  if (state === 'lacking') throw new Error('it lacks blocks that a proof needs');
  if (state === 'expired') await assertNowhere(endpoints, id);
  return state === 'expired' ? { endpoint: node.host, block: { number: head.number, hash: head.id } } : null;
}

/** The head is asked for first: what is absent afterwards was absent when that block was made. */
async function fetchView(
  node: TronNode,
  endpoints: Endpoints,
  chain: ChainDefinition,
  attempts: KnownAttempt[],
  proofs: Proofs,
): Promise<AttemptView> {
  const head = await node.solidHead();
  let isConclusive = true;
  const states: AttemptStatus[] = [];
  for (const attempt of attempts) {
    const { state, isLacking } = await stateOf(node, endpoints, { chain, head, proofs }, attempt);
    isConclusive &&= !isLacking;
    states.push({ attempt: attempt.attempt, ...state });
  }
  return { states, isConclusive };
}

async function stateOf(
  node: TronNode,
  endpoints: Endpoints,
  { chain, head, proofs }: { chain: ChainDefinition; head: Header; proofs: Proofs },
  { unsigned }: KnownAttempt,
): Promise<{ state: AttemptState; isLacking?: true }> {
  // known before it is signed
  const id = transactionId(unsigned);
  const included = await findEffect(node, { id, unsigned });
  if (included) {
    const depth = Math.max(1, head.number - included.block.number + 1);
    return { state: { state: 'included', id, depth, effect: included.effect } };
  }
  const known = proofs.find(id);
  if (known) return { state: { state: 'impossible', proof: known } };
  const expiry = await findExpiry(node, chain, head, unsigned);
  if (expiry.state === 'expired') {
    await assertNowhere(endpoints, id);
    proofs.add(id, expiry.proof);
    return { state: { state: 'impossible', proof: expiry.proof } };
  }
  const state: AttemptState = (await node.isKnown(id)) ? { state: 'pending', id } : { state: 'absent' };
  return expiry.state === 'lacking' ? { state, isLacking: true } : { state };
}

/**
 * A node may leave a transaction out of its answers: no other one may have executed it. @throws Error when one has, so that another node is
 * asked for its state.
 */
async function assertNowhere(endpoints: Endpoints, id: string): Promise<void> {
  if (await endpoints.some(async (node) => (await node.findReceipt(id)) !== null))
    throw new Error('another endpoint has executed what this one lacks');
}
