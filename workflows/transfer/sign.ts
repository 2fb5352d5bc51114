import { condition, log } from '@temporalio/workflow';
import type { NodeIndex, SigningPair } from '../../src/messages/nodes';
import { nodeActivities, signingPairs, stableIndex, transferActivities } from '../activities';
import { type Problem, toProblem } from '../failures';
import { type Next, park } from './next';
import type { TransferState } from './state';

/** Pairs that are tried before an operator is asked: about an hour with the waits below. */
const signingRounds = 120;
const signatureSeconds = 15;
const longestWaitMs = 30_000;

type Stage = Extract<Next, { next: 'sign' }>;

/** What the pairs have said so far in this stage. */
class Answers {
  /** Pairs that do not sign together by this key any more. */
  readonly banned = new Set<SigningPair>();
  /** Nodes whose own limits do not allow it, each by its own word. */
  readonly refusing = new Set<NodeIndex>();
  last = '';

  get isFrozen(): boolean {
    return this.banned.size === signingPairs.length;
  }

  note({ initiator, peer }: SigningPair, { code, message, node }: Problem): void {
    this.last = message;
    if (code === 'node_policy' && node === initiator) this.refusing.add(initiator);
    const pair = signingPairs.find((one) => one.initiator === initiator && one.peer === peer);
    if (code === 'key_peer_banned' && pair) this.banned.add(pair);
  }
}

/**
 * One activity per try, on the queue of the initiating node. A node that is down, an aborted session and one node's refusal by its
 * own limits are followed by a new session with another pair; a banned pair is left out. A node's refusal of the transaction itself is
 * for an operator: trying other nodes would mean asking until two agree.
 */
export async function sign(state: TransferState, stage: Stage): Promise<Next> {
  if (stage.attempt === 1) state.progress.status('SIGNING');
  const first = stableIndex(state.txId, signingPairs.length);
  const answers = new Answers();
  for (let round = 0; !state.sawInclusion; round += 1) {
    const pair = signingPairs[(first + round) % signingPairs.length];
    if (!pair) throw new Error('no signing pair');
    const next = answers.banned.has(pair) ? undefined : await tryPair(state, stage, pair, round, answers);
    if (next) return next;
    if (round % signingPairs.length === signingPairs.length - 1) await pause(state, round, answers.last);
  }
  // an earlier attempt was executed: no other is needed
  return { next: 'confirm' };
}

/** Undefined: another pair is to be tried. */
async function tryPair(
  state: TransferState,
  stage: Stage,
  pair: SigningPair,
  round: number,
  answers: Answers,
): Promise<Next | undefined> {
  const { initiator, peer } = pair;
  const { attempt, request } = stage;
  const { txId, progress } = state;
  progress.report('sign', `Nodes ${initiator} and ${peer}`, round + 1);
  try {
    const summary = `sign attempt ${attempt}: nodes ${initiator} and ${peer}`;
    const { signatures } = await nodeActivities(initiator, signatureSeconds, summary).signTransaction({ ...request, peer });
    await transferActivities.recordSigned({ txId, attempt, signatures });
    return { next: 'broadcast', attempt, tries: 1 };
  } catch (error) {
    const problem = toProblem(error);
    log.warn('no signature from this pair', { txId, initiator, peer, code: problem.code, reason: problem.message });
    answers.note(pair, problem);
    return decide(state, stage, problem, round, answers);
  }
}

/**
 * What a pair's refusal means for the transfer. The blacklist: a first attempt is abandoned at once if its destination is listed in
 * Postgres too; otherwise the node's copy is about to be corrected and another try is made. The limits of two nodes: a first attempt is
 * cancelled, since no pair without one of them is left.
 */
async function decide(
  state: TransferState,
  stage: Stage,
  problem: Problem,
  round: number,
  answers: Answers,
): Promise<Next | undefined> {
  const { code, message, retryable } = problem;
  const { txId } = state;
  const byBlacklist = code === 'address_blacklisted';
  const isListed = byBlacklist && (await transferActivities.destinationBlacklisted({ txId }));
  if (isListed && stage.kind === 'first') return { next: 'abandon' };
  if (answers.refusing.size > 1 && stage.kind === 'first') {
    await transferActivities.recordPolicyRefusal({ txId, reason: message });
    return { next: 'abandon' };
  }
  if (answers.isFrozen) return park('key_frozen', 'No two signing nodes are left that sign together by this key', stage);
  // a node that returns an invalid signature is treated like one that is down
  const triesElsewhere =
    retryable ||
    code === 'invalid_signature' ||
    (byBlacklist && !isListed) ||
    (code === 'node_policy' && answers.refusing.size < 2);
  if (triesElsewhere && round < signingRounds) return undefined;
  return park(retryable ? 'signers_unavailable' : code, message, stage);
}

async function pause(state: TransferState, round: number, message: string): Promise<void> {
  state.progress.report('sign', `Waiting for two signing nodes: ${message}`, round + 1);
  const waitMs = Math.min(1000 * 2 ** Math.floor(round / signingPairs.length), longestWaitMs);
  await condition(() => state.sawInclusion, waitMs);
}
