import { condition, log } from '@temporalio/workflow';
import type { NodeIndex, SigningPair } from '../../src/messages/nodes';
import type { SignedRefusal } from '../../src/messages/signing';
import type { BroadcastResult, NodeProblem } from '../../src/messages/transfer';
import type { FailureCode } from '../../src/platform/codes';
import { authoriserActivities, nodeActivities, signingPairs, stableIndex, transferActivities } from '../activities';
import { type Problem, toProblem } from '../failures';
import { runbook, waitsForAuthoriser } from '../progress';
import { afterSending, send } from './broadcast';
import { type Next, park } from './next';
import { resume } from './resume';
import type { TransferState } from './state';

/** Pairs that are tried before an operator is asked: about an hour with the waits below. */
const signingRounds = 120;
const signatureSeconds = 15;
const longestWaitMs = 30_000;
/** An order is renewed this long before it expires: for the time of a session and the clock difference of a node. */
const renewBeforeMs = 75_000;

/** Refusals whose cause is the node itself, however many there are: it is treated like one that is down. */
const byOneNode: readonly FailureCode[] = ['invalid_signature', 'order_refused', 'address_blacklisted'];

type Stage = Extract<Next, { next: 'sign' }>;

/** What the pairs have said so far in this stage. */
class Answers {
  /** Pairs that do not sign together by this key any more. */
  private readonly banned = new Set<SigningPair>();
  /** Nodes whose own limits do not allow it, each in a refusal that it has signed. */
  private readonly refusing = new Map<NodeIndex, SignedRefusal>();
  /** Nodes that refuse the transaction itself, each in its own answer: what an initiator says of its peer does not count. */
  private readonly faulting = new Set<NodeIndex>();
  /** By node and code: the newest answer of each. */
  private readonly problems = new Map<string, NodeProblem>();
  last = '';

  get all(): NodeProblem[] {
    return [...this.problems.values()];
  }

  get isFrozen(): boolean {
    return this.banned.size === signingPairs.length;
  }

  /** Two nodes refuse: no pair without one of them is left. */
  get isRefused(): boolean {
    return this.refusing.size > 1;
  }

  /** Two nodes say that something is wrong with the transaction. */
  get isFaulty(): boolean {
    return this.faulting.size > 1;
  }

  get refusals(): SignedRefusal[] {
    return [...this.refusing.values()];
  }

  isBanned(pair: SigningPair): boolean {
    return this.banned.has(pair);
  }

  note(pair: SigningPair, { code, message, node = pair.initiator, refusal, retryable }: Problem): void {
    this.last = message;
    this.problems.set(`${node} ${code}`, { node, code, reason: message });
    const isOwn = node === pair.initiator;
    if (code === 'key_peer_banned') this.banned.add(pair);
    else if (code === 'node_policy') {
      if (isOwn && refusal) this.refusing.set(node, refusal);
    } else if (isOwn && !retryable && !byOneNode.includes(code)) this.faulting.add(node);
  }
}

/**
 * One activity per try, on the queue of the initiating node; what was signed is then stored and sent by one of the chain. A node that is
 * down, an aborted session and one node's refusal, by its own limits or of the transaction itself, are followed by a new session with
 * another pair; a banned pair is left out. Two nodes' refusals of the transaction itself are for an operator: no pair without one of them
 * is left. An order that is about to expire is replaced by another order of the authoriser.
 */
export async function sign(state: TransferState, stage: Stage): Promise<Next> {
  let ordered = stage;
  if (stage.attempt === 1) state.progress.passed('SIGNING');
  const first = stableIndex(state.txId, signingPairs.length);
  const answers = new Answers();
  for (let round = 0; !state.sawInclusion; round += 1) {
    if (ordered.expiresAtMs - Date.now() < (ordered.endsWithBytes ? 0 : renewBeforeMs)) {
      const renewed = await resume(state, ordered.kind);
      if (renewed.next !== 'sign') return renewed;
      ordered = renewed;
    }
    const pair = signingPairs[(first + round) % signingPairs.length];
    if (!pair) throw new Error('no signing pair');
    const next = answers.isBanned(pair) ? undefined : await tryPair(state, ordered, pair, round, answers);
    if (next) return next;
    if (round % signingPairs.length === signingPairs.length - 1) await pause(state, ordered, round, answers.last);
  }
  // an earlier attempt was executed: no other is needed
  return { next: 'confirm' };
}

/** Undefined: another pair is to be tried. */
async function tryPair(
  state: TransferState,
  ordered: Stage,
  pair: SigningPair,
  round: number,
  answers: Answers,
): Promise<Next | undefined> {
  const { initiator, peer } = pair;
  const { attempt, order, unsigned } = ordered;
  const { txId, progress } = state;
  const stage = { step: 'sign', attempt: round + 1 };
  if (answers.last) progress.waitsForNodes('two', answers.last, stage);
  else {
    const detail = `Nodes ${initiator} and ${peer} are asked to sign`;
    progress.report(
      'sign',
      detail,
      round + 1,
      `**${detail}**; others are asked if they do not: ${runbook('signers_unavailable')}`,
    );
  }
  let sent: BroadcastResult;
  try {
    const summary = `sign attempt ${attempt}: nodes ${initiator} and ${peer}`;
    const { signatures } = await nodeActivities(initiator, signatureSeconds, summary).signTransaction({ order, unsigned, peer });
    sent = await send(state, attempt, { signatures, problems: answers.all });
  } catch (error) {
    const problem = toProblem(error);
    log.warn('no signature from this pair', { txId, initiator, peer, code: problem.code, reason: problem.message });
    answers.note(pair, problem);
    return decide(state, ordered, problem, round, answers);
  }
  return afterSending(state, sent, { attempt, tries: 1 });
}

/**
 * What a pair's refusal means for the transfer. The blacklist: a first attempt is abandoned at once if its destination is listed in
 * Postgres too; otherwise the node's copy is about to be corrected and another try is made. One node alone parks nothing, whatever it
 * answers.
 */
async function decide(
  state: TransferState,
  ordered: Stage,
  { code, message, retryable }: Problem,
  round: number,
  answers: Answers,
): Promise<Next | undefined> {
  if (code === 'address_blacklisted' && (await transferActivities.destinationBlacklisted({ txId: state.txId })))
    return ordered.kind === 'first' ? { next: 'abandon' } : park(code, message, ordered);
  if (answers.isRefused) return refusedByLimits(state, ordered, message, answers, round);
  if (answers.isFrozen) return park('key_frozen', 'No two signing nodes are left that sign together by this key', ordered);
  if (answers.isFaulty) return park(code, message, ordered);
  if (round < signingRounds) return undefined;
  return park(retryable ? 'signers_unavailable' : code, message, ordered);
}

/**
 * The limits of two nodes: a first attempt is abandoned, if the authoriser accepts what the two have signed. A cancellation has only its
 * fee refused: another one is prepared after a retry, at the fees that the chain has then.
 */
async function refusedByLimits(
  state: TransferState,
  ordered: Stage,
  message: string,
  { refusals }: Answers,
  round: number,
): Promise<Next> {
  const { kind } = ordered;
  if (kind === 'cancellation') return park('node_policy', message, { next: 'prepare', kind });
  if (kind !== 'first') return park('node_policy', message, ordered);
  const detail = 'The authoriser is told that the limits of two nodes do not allow it';
  state.progress.report('sign', detail, round + 1, waitsForAuthoriser('accept what the nodes refuse'));
  const { accepted } = await authoriserActivities.recordNodeRefusals({ txId: state.txId, refusals });
  return accepted ? { next: 'abandon' } : park('node_policy', message, ordered);
}

async function pause(state: TransferState, ordered: Stage, round: number, message: string): Promise<void> {
  state.progress.waitsForNodes('two', message, { step: 'sign', attempt: round + 1 });
  const usualMs = Math.min(1000 * 2 ** Math.floor(round / signingPairs.length), longestWaitMs);
  const waitMs = ordered.endsWithBytes ? Math.min(usualMs, Math.max(ordered.expiresAtMs - Date.now(), 0)) : usualMs;
  await condition(() => state.sawInclusion, waitMs, { summary: 'then the signing nodes are asked again' });
}
