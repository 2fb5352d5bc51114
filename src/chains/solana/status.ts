import { type AttemptView, firstConclusive } from '../attempt-view';
import type { AttemptState, AttemptStatus, EndpointView, KnownAttempt } from '../chain-client';
import type { EndpointList } from '../endpoints';
import { type Proofs, withAgreement } from '../proofs';
import type { ChainDefinition, Hex, JsonValue } from '../types';
import { isStandIn } from './authorise/codec';
import { toBase58 } from './codec/base58';
import { readParts } from './codec/parts';
import { findEffect, toEffect } from './effects';
import { type Expiry, findExpiry, validBlocks, Walks } from './expiry';
import type { SolanaNode } from './node';

/** What earlier calls have found: a proof takes many requests. */
interface Found {
  proofs: Proofs;
  walks: Walks;
}

type Endpoints = Pick<EndpointList<SolanaNode>, 'run' | 'some' | 'every' | 'size'>;

/** The state of every attempt, seen by one node: the first whose view is conclusive, or else the first that answers. */
export function askStatus(
  endpoints: Endpoints,
  chain: ChainDefinition,
  attempts: KnownAttempt[],
  { proofs, walks }: Found,
): Promise<AttemptStatus[]> {
  return firstConclusive(
    (work) => endpoints.run(work),
    async (node: SolanaNode) => {
      const head = await node.slot();
      const view: AttemptView = { states: [], isConclusive: true };
      for (const attempt of attempts) {
        const { state, isLacking } = await stateOf(node, endpoints, { chain, head, proofs, walks }, attempt);
        view.isConclusive &&= !isLacking;
        view.states.push({ attempt: attempt.attempt, ...state });
      }
      return view;
    },
  );
}

/** As `status`, of one message, and nothing remembered. @throws Error where the node lacks blocks that the proof needs. */
export async function proveAt(
  node: SolanaNode,
  chain: ChainDefinition,
  unsigned: Hex,
  begunAt: Date | null,
): Promise<EndpointView | null> {
  const head = await node.slot();
  const block = await node.header(head);
  if (!block) throw new Error('the node does not show its newest block');
  const { state } = await findExpiry(node, chain, unsigned, { slot: null, notAfter: null, begunAt }, new Walks());
  if (state === 'lacking') throw new Error('it lacks blocks that a proof needs');
  return state === 'expired' ? { endpoint: node.host, block: { number: head, hash: block.blockhash } } : null;
}

async function stateOf(
  node: SolanaNode,
  endpoints: Endpoints,
  { chain, head, proofs, walks }: Found & { chain: ChainDefinition; head: number },
  { unsigned, ids: known, messageKey, expiry, begunAt }: KnownAttempt,
): Promise<{ state: AttemptState; isLacking?: true }> {
  const ids = known.filter((id) => !isStandIn(id));
  const depthOf = (slot: number): number => Math.max(1, head - slot + 1);
  for (const id of ids) {
    const effect = await findEffect(node, { id, unsigned }, head);
    if (effect) return { state: { state: 'included', id, depth: depthOf(effect.blockNumber), effect } };
  }
  const proven = proofs.find(messageKey);
  if (proven) return { state: { state: 'impossible', proof: proven } };
  const [slot, notAfter] = [readSlot(expiry?.slot), readSlot(expiry?.notAfter)];
  // of a block that somebody else has chosen the slot is not known, and many blocks are searched for it: once, when they are a proof
  const isEarly = slot === null && notAfter !== null && head < notAfter + validBlocks + chain.finalityDepth;
  const isOpen = isEarly || (slot === null && (await node.isBlockhashValid(toBase58(readParts(unsigned).blockhash))));
  const look = (at: SolanaNode) => findExpiry(at, chain, unsigned, { slot, notAfter, begunAt }, walks);
  const found: Expiry = isOpen ? { state: 'open' } : await look(node);
  if (found.state === 'found') {
    const { executed, block } = found;
    const effect = toEffect(executed, block, unsigned);
    return { state: { state: 'included', id: executed.id, depth: depthOf(block.slot), effect } };
  }
  if (found.state === 'expired') {
    await assertNowhere(endpoints, ids);
    const others = await askOthers(node, endpoints, look);
    if (others === 'early') return { state: { state: 'absent' } };
    if (others === 'unagreed') return { state: { state: 'absent', isUnagreed: true }, isLacking: true };
    const proof = withAgreement(found.proof, endpoints.size);
    proofs.add(messageKey, proof);
    return { state: { state: 'impossible', proof } };
  }
  const states = ids.length === 0 ? [] : await node.signatureStates(ids);
  const seen = ids.find((_, index) => states[index]);
  const state: AttemptState = seen === undefined ? { state: 'absent' } : { state: 'pending', id: seen };
  return found.state === 'lacking' ? { state, isLacking: true } : { state };
}

/**
 * Whether every configured endpoint shows the same: what is unlocked by it, as of an abandoned transfer, nobody else looks for, as signing
 * nodes do before a transfer is made again. `early`: one does not have the last of the blocks yet.
 * @throws Error when another endpoint has executed it, so that this one is asked for its state
 */
async function askOthers(
  node: SolanaNode,
  endpoints: Endpoints,
  look: (at: SolanaNode) => Promise<Expiry>,
): Promise<'agreed' | 'early' | 'unagreed'> {
  const seen = new Set<Expiry['state']>();
  const isAgreed = await endpoints.every(async (other) => {
    const { state } = other === node ? { state: 'expired' as const } : await look(other);
    seen.add(state);
    return state === 'expired';
  });
  if (seen.has('found')) throw new Error('another endpoint has executed what this one lacks');
  if (isAgreed) return 'agreed';
  return seen.has('open') ? 'early' : 'unagreed';
}

const readSlot = (value: JsonValue | undefined): number | null => (typeof value === 'number' ? value : null);

/**
 * A node may leave a transaction out of its answers: no other one may have executed it. @throws Error when one has, so that another node is
 * asked for its state.
 */
async function assertNowhere(endpoints: Endpoints, ids: string[]): Promise<void> {
  for (const id of ids) {
    if (await endpoints.some(async (node) => (await node.transaction(id)) !== null))
      throw new Error('another endpoint has executed what this one lacks');
  }
}
