import { mapBounded } from '../../platform/map-bounded';
import { type AttemptView, firstConclusive } from '../attempt-view';
import type { AttemptState, AttemptStatus, EndpointView, KnownAttempt } from '../chain-client';
import type { EndpointList } from '../endpoints';
import { type Proofs, withAgreement } from '../proofs';
import type { ChainDefinition, Hex } from '../types';
import type { Header } from './answers';
import { transactionId } from './codec';
import { findEffect } from './effects';
import { type Expiry, findExpiry, type Observer } from './expiry';
import type { TronNode } from './node';

type Endpoints = Pick<EndpointList<TronNode>, 'run' | 'every' | 'size'>;

/** Where the client asks, and by which clock. */
export interface Sight {
  endpoints: Endpoints;
  chain: ChainDefinition;
  /** The gateway's own clock, milliseconds since the epoch. */
  now: () => number;
}

/** Attempts of a transfer that are looked at at a time. */
const attemptsAtOnce = 4;

/** The state of every attempt, seen by one node: the first whose view is conclusive, or else the first that answers. */
export function askStatus(sight: Sight, attempts: KnownAttempt[], proofs: Proofs): Promise<AttemptStatus[]> {
  return firstConclusive(
    (work) => sight.endpoints.run(work),
    (node: TronNode) => fetchView(node, sight, attempts, proofs),
  );
}

/** As `status`, of one transaction, and nothing remembered. @throws Error where the node lacks blocks that the proof needs. */
export async function proveAt(node: TronNode, { endpoints, chain, now }: Sight, unsigned: Hex): Promise<EndpointView | null> {
  const head = await node.solidHead();
  const id = transactionId(unsigned);
  if (await node.findReceipt(id)) return null;
  const { state } = await findAgreedExpiry(node, endpoints, { chain, head, now }, unsigned);
  if (state === 'lacking') throw new Error('it lacks blocks that a proof needs');
  if (state === 'unagreed') throw new Error('another endpoint does not answer, or does not show the blocks of the proof');
  return state === 'expired' ? { endpoint: node.host, block: { number: head.number, hash: head.id } } : null;
}

/** The head is asked for first: what is absent afterwards was absent when that block was made. */
async function fetchView(node: TronNode, sight: Sight, attempts: KnownAttempt[], proofs: Proofs): Promise<AttemptView> {
  const { chain, now, endpoints } = sight;
  const head = await node.solidHead();
  const views = await mapBounded(attempts, attemptsAtOnce, async (known) => {
    const view = await stateOf(node, endpoints, { observer: { chain, head, now }, proofs }, known);
    return { ...view, state: { attempt: known.attempt, ...view.state } };
  });
  return { states: views.map(({ state }) => state), isConclusive: views.every(({ isLacking }) => !isLacking) };
}

interface View {
  state: AttemptState;
  isLacking?: true;
}

async function stateOf(
  node: TronNode,
  endpoints: Endpoints,
  { observer, proofs }: { observer: Observer; proofs: Proofs },
  { unsigned }: KnownAttempt,
): Promise<View> {
  // known before it is signed
  const id = transactionId(unsigned);
  const included = await findEffect(node, { id, unsigned });
  if (included) {
    const depth = Math.max(1, observer.head.number - included.block.number + 1);
    return { state: { state: 'included', id, depth, effect: included.effect } };
  }
  const known = proofs.find(id);
  if (known) return { state: { state: 'impossible', proof: known } };
  const expiry = await findAgreedExpiry(node, endpoints, observer, unsigned);
  if (expiry.state === 'expired') {
    const proof = withAgreement(expiry.proof, endpoints.size);
    proofs.add(id, proof);
    return { state: { state: 'impossible', proof } };
  }
  const isUnagreed = expiry.state === 'unagreed';
  const state: AttemptState = (await node.isKnown(id))
    ? { state: 'pending', id }
    : { state: 'absent', ...(isUnagreed && { isUnagreed }) };
  return isUnagreed || expiry.state === 'lacking' ? { state, isLacking: true } : { state };
}

/**
 * As findExpiry; a node may leave a transaction out of its answers, or follow another chain. So every configured endpoint has to answer that
 * it has not executed it, and to show the block that ends the proof, without which it may not have come so far; where the block that the
 * transaction refers to is gone, those in its place too. Until all do, nothing is proven.
 * @throws Error when another node has executed it, so that this one is asked for its state
 */
async function findAgreedExpiry(
  node: TronNode,
  endpoints: Endpoints,
  observer: Observer,
  unsigned: Hex,
): Promise<Expiry | { state: 'unagreed' }> {
  const expiry = await findExpiry(node, observer, unsigned);
  if (expiry.state !== 'expired') return expiry;
  const id = transactionId(unsigned);
  let isExecuted = false;
  const isAgreed = await endpoints.every(async (other) => {
    // before the receipt is asked for: without one then, it had none when it had come so far
    const shows = await hasBlocks(other, expiry.agreed);
    if (!(await other.findReceipt(id))) return shows;
    isExecuted = true;
    return false;
  });
  if (isExecuted) throw new Error('another endpoint has executed what this one lacks');
  return isAgreed ? expiry : { state: 'unagreed' };
}

async function hasBlocks(node: TronNode, blocks: Header[]): Promise<boolean> {
  const shown = await Promise.all(blocks.map(({ number }) => node.solidHeader(number)));
  return shown.every((header, index) => header?.id === blocks[index]?.id);
}
