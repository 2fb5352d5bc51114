import { condition, log } from '@temporalio/workflow';
import type { NodeIndex, SigningPair } from '../../src/messages/nodes';
import type { SignedRefusal } from '../../src/messages/signing';
import { authoriserActivities, nodeActivities, signingPairs, stableIndex, transferActivities } from '../activities';
import { type Problem, toProblem } from '../failures';
import { type Next, park } from './next';
import { resume } from './resume';
import type { TransferState } from './state';

/** Pairs that are tried before an operator is asked: about an hour with the waits below. */
const signingRounds = 120;
const signatureSeconds = 15;
const longestWaitMs = 30_000;
/** An order is renewed this long before it expires: for the time of a session and the clock difference of a node. */
const renewBeforeMs = 75_000;

type Stage = Extract<Next, { next: 'sign' }>;

/** What the pairs have said so far in this stage. */
class Answers {
  /** Pairs that do not sign together by this key any more. */
  private readonly banned = new Set<SigningPair>();
  /** Nodes whose own limits do not allow it, each by its own signed word. */
  private readonly refusing = new Map<NodeIndex, SignedRefusal>();
  last = '';

  get isFrozen(): boolean {
    return this.banned.size === signingPairs.length;
  }

  /** Two nodes refuse: no pair without one of them is left. */
  get isRefused(): boolean {
    return this.refusing.size > 1;
  }

  get refusals(): SignedRefusal[] {
    return [...this.refusing.values()];
  }

  isBanned(pair: SigningPair): boolean {
    return this.banned.has(pair);
  }

  note(pair: SigningPair, { code, message, node, refusal }: Problem): void {
    this.last = message;
    if (code === 'node_policy' && node === pair.initiator && refusal) this.refusing.set(node, refusal);
    if (code === 'key_peer_banned') this.banned.add(pair);
  }
}

/**
 * One activity per try, on the queue of the initiating node. A node that is down, an aborted session and one node's refusal by its
 * own limits are followed by a new session with another pair; a banned pair is left out. A node's refusal of the transaction itself is
 * for an operator: trying other nodes would mean asking until two agree. An order that is about to expire is replaced by another order
 * of the authoriser.
 */
export async function sign(state: TransferState, stage: Stage): Promise<Next> {
  let ordered = stage;
  if (stage.attempt === 1) state.progress.status('SIGNING');
  const first = stableIndex(state.txId, signingPairs.length);
  const answers = new Answers();
  for (let round = 0; !state.sawInclusion; round += 1) {
    if (ordered.expiresAtMs - Date.now() < renewBeforeMs) {
      const renewed = await resume(state, ordered.kind);
      if (renewed.next !== 'sign') return renewed;
      ordered = renewed;
    }
    const pair = signingPairs[(first + round) % signingPairs.length];
    if (!pair) throw new Error('no signing pair');
    const next = answers.isBanned(pair) ? undefined : await tryPair(state, ordered, pair, round, answers);
    if (next) return next;
    if (round % signingPairs.length === signingPairs.length - 1) await pause(state, round, answers.last);
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
  progress.report('sign', `Nodes ${initiator} and ${peer}`, round + 1);
  try {
    const summary = `sign attempt ${attempt}: nodes ${initiator} and ${peer}`;
    const { signatures } = await nodeActivities(initiator, signatureSeconds, summary).signTransaction({ order, unsigned, peer });
    await transferActivities.recordSigned({ txId, attempt, signatures });
    return { next: 'broadcast', attempt, tries: 1 };
  } catch (error) {
    const problem = toProblem(error);
    log.warn('no signature from this pair', { txId, initiator, peer, code: problem.code, reason: problem.message });
    answers.note(pair, problem);
    return decide(state, ordered, problem, round, answers);
  }
}

/**
 * What a pair's refusal means for the transfer. The blacklist: a first attempt is abandoned at once if its destination is listed in
 * Postgres too; otherwise the node's copy is about to be corrected and another try is made. The limits of two nodes: a first attempt is
 * given up, if the authoriser accepts what the two have signed.
 */
async function decide(
  state: TransferState,
  ordered: Stage,
  { code, message, retryable }: Problem,
  round: number,
  answers: Answers,
): Promise<Next | undefined> {
  const { txId } = state;
  const byBlacklist = code === 'address_blacklisted';
  const isListed = byBlacklist && (await transferActivities.destinationBlacklisted({ txId }));
  if (isListed && ordered.kind === 'first') return { next: 'abandon' };
  if (answers.isRefused && ordered.kind === 'first') {
    const { accepted } = await authoriserActivities.recordNodeRefusals({ txId, refusals: answers.refusals });
    return accepted ? { next: 'abandon' } : park(code, message, ordered);
  }
  if (answers.isFrozen) return park('key_frozen', 'No two signing nodes are left that sign together by this key', ordered);
  // a node that returns an invalid signature, or refuses the order, is treated like one that is down
  const triesElsewhere =
    retryable ||
    code === 'invalid_signature' ||
    code === 'order_refused' ||
    (byBlacklist && !isListed) ||
    (code === 'node_policy' && !answers.isRefused);
  if (triesElsewhere && round < signingRounds) return undefined;
  return park(retryable ? 'signers_unavailable' : code, message, ordered);
}

async function pause(state: TransferState, round: number, message: string): Promise<void> {
  state.progress.report('sign', `Waiting for two signing nodes: ${message}`, round + 1);
  const waitMs = Math.min(1000 * 2 ** Math.floor(round / signingPairs.length), longestWaitMs);
  await condition(() => state.sawInclusion, waitMs);
}
