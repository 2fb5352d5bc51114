import { CancellationScope, condition, patched } from '@temporalio/workflow';
import type { AttemptKind, Prepared } from '../../src/chains/types';
import type { BeginSigningResult } from '../../src/messages/transfer';
import { authoriserActivities, transferActivities } from '../activities';
import { isCancelled, toProblem } from '../failures';
import { chainSilent, runbook, waitsForAuthoriser } from '../progress';
import { askChain } from './ask-chain';
import { endUnsigned } from './end-unsigned';
import { continueFromRows, ended, type Next, park, parkForNow, parkStuck } from './next';
import { followAbandoned, followUntilOver, resume, toNext } from './resume';
import type { TransferState } from './state';
import { estimatedForMs, reserveWaits, turnWaits } from './waits';

type Refused = Extract<BeginSigningResult, { outcome: 'refused' }>;

interface NotEstimated {
  outcome: 'not_estimated';
  reason: string;
}

/** As `estimatedForMs`. A worker of an earlier release has waited longer where blocks are slow: hours on bitcoin. */
function estimateMs(stuckAfterMs: number): number {
  const [now, before] = [estimatedForMs(stuckAfterMs), 2 * stuckAfterMs];
  return now === before || patched('estimate-within-minutes') ? now : before;
}

/** Asks the chain for fees and other facts, then begins signing: from then on the attempt counts as signed. */
export function prepare(state: TransferState, kind: AttemptKind): Promise<Next> {
  switch (kind) {
    case 'first':
      return startFirstAttempt(state);
    case 'replacement':
      return replaceAttempt(state);
    case 'reissue':
      return reissueAttempt(state);
    case 'cancellation':
      return cancelAttempts(state);
  }
}

/** Until signing has begun a refusal ends the transfer, and so does a cancellation by the client. An attempt of an earlier run is resumed. */
function startFirstAttempt(state: TransferState): Promise<Next> {
  if (state.lastAttempt > 0) return resume(state, 'first');
  return beginAttempt(state, 'first', () => endUnsigned(state));
}

/** The same reservation with a higher fee, within the fee bound; beyond it an operator decides. What has no time left is cancelled. */
function replaceAttempt(state: TransferState): Promise<Next> {
  return beginAttempt(state, 'replacement', ({ code, reason, byRule, isExecuted, isFollowed }) => {
    if (isExecuted || isFollowed) return { next: 'confirm' };
    if (code === 'expired' && state.isTimed) return followUntilOver(state);
    if (byRule) return park(code, `${reason}: it is not sent again at a higher fee`, { next: 'confirm' });
    const why = code === 'stuck' ? reason : 'Not included in time, and a higher fee is beyond the locked bound';
    return parkStuck(state, why);
  });
}

/** A new message after all attempts are proven impossible; if it is too late for that, the transfer ends as FAILED. */
function reissueAttempt(state: TransferState): Promise<Next> {
  return beginAttempt(state, 'reissue', async () => ended(await transferActivities.failByProof({ txId: state.txId })));
}

/**
 * A transaction that moves nothing and spends what the attempts would spend, so that later transfers do not wait. If an attempt is
 * executed meanwhile, it is settled instead. If the cancellation is refused before it has begun, the transfer is not abandoned, and
 * a retry continues it.
 */
function cancelAttempts(state: TransferState): Promise<Next> {
  return beginAttempt(state, 'cancellation', ({ code, reason, isExecuted, isFollowed }) => {
    if (isExecuted) return { next: 'confirm' };
    if (isFollowed) return { next: 'confirm', notBegun: { code, reason } };
    return park(code, reason, continueFromRows(state));
  });
}

/** The common part: the chain activity prepares the attempt, and the authoriser begins it in one database transaction. */
async function beginAttempt(
  state: TransferState,
  kind: AttemptKind,
  onRefused: (refused: Refused) => Next | Promise<Next>,
): Promise<Next> {
  const { txId, lastAttempt } = state;
  const attempt = lastAttempt + 1;
  const { firstMs, longestMs, totalMs } = reserveWaits(state.transfer.blockTimeMs);
  let until = Date.now() + totalMs;
  let estimatedUntil: number | undefined;
  for (let waitMs = firstMs; ; waitMs = Math.min(2 * waitMs, longestMs)) {
    state.progress.report(
      'prepare',
      `Fees on ${state.transfer.chain}`,
      attempt,
      `**Asks ${state.transfer.chain} what attempt ${attempt} costs.** If this stays, no worker of the chain runs: start it, ${chainSilent}`,
    );
    const prepared = await prepareOrRefuse(state, attempt, kind);
    if (prepared === 'ended') return { next: 'lock' };
    if ('outcome' in prepared && prepared.outcome === 'not_estimated') {
      estimatedUntil ??= Date.now() + estimateMs(state.transfer.stuckAfterMs);
      if (Date.now() >= estimatedUntil) return parkForNow('not_estimated', prepared.reason, continueFromRows(state));
      const asksAgain = `**Asks ${state.transfer.chain} again what it costs**, for some minutes; then it is parked: ${runbook('not_estimated')}. Last answer: ${prepared.reason}`;
      state.progress.report('prepare', prepared.reason, attempt, asksAgain);
      await condition(() => state.isEnded, Math.min(waitMs, estimatedUntil - Date.now()), {
        summary: 'then the chain is asked again',
      });
      continue;
    }
    if ('outcome' in prepared) return onRefused(prepared);
    estimatedUntil = undefined;
    state.progress.report(
      'prepare',
      'The authoriser is asked to begin signing',
      attempt,
      waitsForAuthoriser('order the signature'),
    );
    const begun = await authoriserActivities.beginSigning({ txId, lastAttempt, kind, prepared });
    switch (begun.outcome) {
      case 'ended':
        return { next: 'lock' };
      case 'refused':
        return begun.code === 'abandoned' ? followAbandoned(state) : onRefused(begun);
      case 'wait':
        if (begun.isBehind) {
          if (!(await waitForTurn(state, begun.reason))) return { next: 'lock' };
          until = Date.now() + totalMs;
          continue;
        }
        if (Date.now() >= until) return park('stuck', begun.reason, { next: 'prepare', kind });
        state.progress.report('prepare', begun.reason, attempt, adviseOnWait(begun.reason, totalMs));
        await condition(() => state.isEnded, waitMs, { summary: 'then signing is asked for again' });
        continue;
      case 'needs_approval':
        return { next: 'screen' };
      case 'stale':
        // the answer to an earlier call was lost
        state.lastAttempt = begun.attempt;
        return resume(state, begun.kind);
      case 'signed':
      case 'begun':
        return toNext(state, begun);
    }
  }
}

/** What it would spend is not free. */
const adviseOnWait = (reason: string, totalMs: number): string =>
  `**Waits until what it spends is free**, and begins by itself; after ${Math.round(totalMs / 60_000)} minutes it is parked: ${runbook('stuck')}. ${reason}`;

/**
 * Until no earlier transaction of the sender waits for an operator any more, however long that takes, or until its own time is over. False: the
 * transfer has ended, or its history has become long, and the rows say what is next.
 */
async function waitForTurn(state: TransferState, reason: string): Promise<boolean> {
  const advice = `**Waits for an earlier transaction of the sender**, which an operator decides about: \`gateway explain ${state.txId}\` names it, ${runbook('stuck')}. ${reason}`;
  state.progress.report('prepare', reason, state.lastAttempt + 1, advice);
  for (let waitMs = turnWaits.firstMs; ; waitMs = Math.min(2 * waitMs, turnWaits.longestMs)) {
    await condition(() => state.isEnded, Math.min(waitMs, state.timeLeftMs), {
      summary: 'then the line of the sender is read again',
    });
    if (state.isEnded || state.shouldContinueAsNew) return false;
    // past its time the authoriser ends it
    if (state.isOver || (await transferActivities.readTurn({ txId: state.txId })).outcome === 'free') return true;
  }
}

/**
 * `ended` when the client cancels while the chain is asked: until signing begins this ends the transfer at once. A first attempt is
 * refused when the chain reports that the transaction would fail, and so is one after all others are proven impossible.
 */
async function prepareOrRefuse(
  state: TransferState,
  attempt: number,
  kind: AttemptKind,
): Promise<Prepared | Refused | NotEstimated | 'ended'> {
  const scope = new CancellationScope();
  const watch = condition(() => state.isEnded).then(() => scope.cancel());
  watch.catch(() => undefined);
  try {
    return await scope.run(() => askChain(state, (chain) => chain.prepareAttempt({ txId: state.txId, attempt, kind })));
  } catch (error) {
    if (isCancelled(error) && state.isEnded) return 'ended';
    const { code, message, retryable } = toProblem(error);
    if (code === 'not_estimated') return { outcome: code, reason: message };
    if (isCancelled(error) || retryable || (kind !== 'first' && kind !== 'reissue')) throw error;
    return { outcome: 'refused', code, reason: message };
  }
}
