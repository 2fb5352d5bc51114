import { type AttemptView, firstConclusive } from '../attempt-view';
import type { AttemptState, AttemptStatus, ImpossibleProof, KnownAttempt, Reservation } from '../chain-client';
import { type AskEach, compareProofs, type ShownProof, withAgreement } from '../proofs';
import type { ChainDefinition, TransactionIntent } from '../types';
import { authorisationState } from './authorise/status';
import { encodeIntent } from './codec';
import { stateOfIncluded } from './included';
import { toMessageKey } from './message-key';
import { findKnownUser, findNonceUser, type NonceUser, type Sender } from './nonce-user';
import type { RpcCall } from './rpc';
import type { RpcTransaction } from './rpc-types';

/** `run`: runs a piece of work at one endpoint after the other, as Endpoints.run does. */
interface Ask extends AskEach<RpcCall> {
  run<T>(work: (call: RpcCall) => Promise<T>): Promise<T>;
  size: number;
}

/**
 * The state of every attempt on one nonce, seen by one node: the first whose view is conclusive, or else the first that answers, which
 * then proves nothing. That they are impossible counts where every configured endpoint shows it; with two of them or more it ends the
 * transfer.
 */
export async function askStatus(
  endpoints: Ask,
  chain: ChainDefinition,
  attempts: KnownAttempt[],
  reservations: Reservation[],
): Promise<AttemptStatus[]> {
  const states = await firstConclusive(
    (work) => endpoints.run(work),
    (call: RpcCall) => fetchView(call, chain, attempts, reservations),
  );
  const proof = states.flatMap((status) => (status.state === 'impossible' ? [status.proof] : []))[0];
  if (!proof || endpoints.size === 1 || states.some(({ state }) => state === 'included')) return states;
  const said = await compareProofs(endpoints, (call) => showProof(call, chain, { attempts, reservations, proof }));
  const ends = proof.used_by !== undefined && states.every(({ state }) => state === 'impossible');
  return states.map((status): AttemptStatus => {
    if (status.state !== 'impossible') return status;
    if (said !== 'same') return { attempt: status.attempt, state: 'absent', ...(said === 'other' && { isUnagreed: true }) };
    return { ...status, proof: { ...withAgreement(status.proof, endpoints.size), ...(ends && { ends }) } };
  });
}

async function showProof(
  call: RpcCall,
  chain: ChainDefinition,
  { attempts, reservations, proof }: { attempts: KnownAttempt[]; reservations: Reservation[]; proof: ImpossibleProof },
): Promise<ShownProof> {
  const head = Number(await call<string>('eth_blockNumber', []));
  const [first] = attempts;
  if (first?.intent.action?.type === 'authorisation') {
    const { state } = await authorisationState(call, chain, head, first);
    return state === 'impossible' ? 'same' : state === 'absent' ? 'early' : 'other';
  }
  const final = head - chain.finalityDepth + 1;
  if (final < Number(proof.block_number)) return 'early';
  const known = await findKnownUser(call, chain, toSender(attempts, reservations), { id: proof.used_by ?? '', block: final });
  return known?.block.hash === proof.block_hash ? 'same' : 'other';
}

/**
 * That a node knows none of the ids proves nothing: another signature over the same bytes has another id. Impossible is what shares
 * its nonce with a transaction of the same sender that is final and has other bytes; that transaction is looked up, which needs the
 * states of the blocks around it.
 */
async function fetchView(
  call: RpcCall,
  chain: ChainDefinition,
  attempts: KnownAttempt[],
  reservations: Reservation[],
): Promise<AttemptView> {
  const head = Number(await call<string>('eth_blockNumber', []));
  const [first] = attempts;
  // nothing is ever signed beside an authorisation
  if (first?.intent.action?.type === 'authorisation')
    return { states: [{ attempt: first.attempt, ...(await authorisationState(call, chain, head, first)) }], isConclusive: true };
  const sender = toSender(attempts, reservations);
  // before the ids are asked for: what is included in between is then found by its id
  const isUsedUp = Number(await call<string>('eth_getTransactionCount', [sender.address, 'latest'])) > sender.nonce;
  const found = await Promise.all(attempts.map((attempt) => stateById(call, head, attempt)));
  const states = attempts.map(({ attempt }, index) => ({ attempt, ...(found[index] ?? { state: 'absent' as const }) }));
  if (!isUsedUp || found.some(({ state }) => state === 'included')) return { states, isConclusive: true };
  const final = head - chain.finalityDepth + 1;
  const seen = reservations[0]?.usedBy ?? null;
  const known = seen === null ? null : await findKnownUser(call, chain, sender, { id: seen, block: final });
  const user = known ?? (await findNonceUser(call, chain, sender, final));
  if (user === 'unknown') return { states, isConclusive: false };
  if (user) return { states: await statesBesideUser(call, chain, head, attempts, user, toProof(user)), isConclusive: true };
  // not for good yet, which proves nothing against the others
  const newest = await findNonceUser(call, chain, sender, head);
  if (newest === null || newest === 'unknown') return { states, isConclusive: true };
  const beside = await statesBesideUser(call, chain, head, attempts, newest, null);
  return {
    states: states.map((state, index) => (beside[index]?.state === 'included' ? beside[index] : state)),
    isConclusive: true,
  };
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

/**
 * The nonce is used up: by one of the attempts under an id not seen before, or by something else. What makes the very call that the transfer
 * is to make counts as its attempt: it is one that is not on record, as after a restored backup, and has moved the money. `proof`: that the
 * other attempts are impossible; null as long as the block is not final.
 */
async function statesBesideUser(
  call: RpcCall,
  chain: ChainDefinition,
  head: number,
  attempts: KnownAttempt[],
  { transaction }: NonceUser,
  proof: ImpossibleProof | null,
): Promise<AttemptStatus[]> {
  const key = toMessageKey(transaction, chain);
  const executed =
    attempts.find(({ messageKey }) => messageKey === key) ??
    attempts.find(({ kind, intent }) => kind !== 'cancellation' && does(transaction, intent));
  return Promise.all(
    attempts.map(async (attempt): Promise<AttemptStatus> => {
      const other: AttemptState = proof ? { state: 'impossible', proof } : { state: 'absent' };
      if (attempt !== executed) return { attempt: attempt.attempt, ...other };
      const state = await stateOfIncluded(call, head, attempt, [transaction.hash]);
      return { attempt: attempt.attempt, ...(state ?? { state: 'absent' }) };
    }),
  );
}

const toProof = ({ transaction, block }: NonceUser): ImpossibleProof => ({
  used_by: transaction.hash,
  sender: transaction.from.toLowerCase(),
  nonce: Number(transaction.nonce),
  block_number: block.number,
  block_hash: block.hash,
});

/** Whether it is the call that an intent asks for, as every payment of a transfer is, whatever its fee. */
function does({ to, value, input }: RpcTransaction, intent: TransactionIntent): boolean {
  const call = encodeIntent(intent);
  const isSame = (one: string | null, other: string) => one?.toLowerCase() === other.toLowerCase();
  return isSame(to, call.to) && BigInt(value) === call.value && isSame(input, call.data ?? '0x');
}
