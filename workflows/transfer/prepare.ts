import { CancellationScope, condition } from '@temporalio/workflow';
import type { AttemptKind, Prepared } from '../../src/chains/types';
import type { BeginSigningResult } from '../../src/messages/transfer';
import type { FailureCode } from '../../src/platform/codes';
import { authoriserActivities, chainActivities, transferActivities } from '../activities';
import { isCancelled, toProblem } from '../failures';
import { endUnsigned } from './end-unsigned';
import { ended, type Next, park, resumed } from './next';
import { resume, toNext } from './resume';
import type { TransferState } from './state';

/** What is not spendable yet is asked for again after this long, so many times, before an operator is asked. */
const reserveAgainMs = 30_000;
const reserveTries = 120;

type Refused = Extract<BeginSigningResult, { outcome: 'refused' }>;

/** Asks the chain for fees and the like, then begins signing: from there on the attempt counts as signed. */
export function prepare(state: TransferState, kind: AttemptKind): Promise<Next> {
  switch (kind) {
    case 'first':
      return startFirstAttempt(state);
    case 'replacement':
      return replaceAttempt(state);
    case 'reissue':
      return reissueAttempt(state);
    case 'cancellation':
      return cancelNonce(state);
  }
}

/**
 * Until signing has begun a refusal ends the transfer, and so does a cancellation by the client. One that has begun in an earlier run
 * goes on with its bytes.
 */
function startFirstAttempt(state: TransferState): Promise<Next> {
  if (state.lastAttempt > 0) return resume(state, 'first');
  return beginAttempt(state, 'first', ({ code, reason }) =>
    endUnsigned(state, isScreened(code) ? 'REJECTED' : 'FAILED', code, reason),
  );
}

/** The same reservation with a higher fee, within what is held; beyond it an operator decides. */
function replaceAttempt(state: TransferState): Promise<Next> {
  return beginAttempt(state, 'replacement', ({ code, reason }) =>
    isScreened(code)
      ? park(code, `${reason}: it is not sent again at a higher fee`, { next: 'confirm' })
      : park('stuck', 'Not included in time, and a higher fee is beyond the locked bound', { next: 'confirm' }),
  );
}

/** Another message in place of attempts that are proven impossible; too late for that, the transfer ends by the proof. */
function reissueAttempt(state: TransferState): Promise<Next> {
  return beginAttempt(state, 'reissue', async ({ code, reason }) => {
    return ended(await transferActivities.failByProof({ txId: state.txId, code, reason }));
  });
}

/**
 * A transaction that moves nothing and spends what the attempts would spend, so that later transfers are not held up. What was
 * executed meanwhile is settled instead. Refused before it has begun, nothing is given up: a retry goes on with the transfer.
 */
function cancelNonce(state: TransferState): Promise<Next> {
  return beginAttempt(state, 'cancellation', ({ code, reason }) =>
    code === 'business_error' ? { next: 'confirm' } : park(code, reason, resumed(state)),
  );
}

/** Refused for its destination, or for a rule of the client's own lists. */
const isScreened = (code: FailureCode): boolean => code === 'address_blacklisted' || code === 'address_not_whitelisted';

/** The core of all four: prepared by the chain's activity, begun by the authoriser in one database transaction. */
async function beginAttempt(
  state: TransferState,
  kind: AttemptKind,
  onRefused: (refused: Refused) => Next | Promise<Next>,
): Promise<Next> {
  const { txId, lastAttempt } = state;
  const attempt = lastAttempt + 1;
  for (let tries = 1; ; tries += 1) {
    state.progress.report('prepare', `Fees on ${state.transfer.chain}`, attempt);
    const prepared = await prepareOrRefuse(state, attempt, kind);
    if (prepared === 'ended') return { next: 'lock' };
    if ('outcome' in prepared) return onRefused(prepared);
    const begun = await authoriserActivities.beginSigning({ txId, lastAttempt, kind, prepared });
    switch (begun.outcome) {
      case 'ended':
        return { next: 'lock' };
      case 'refused':
        return onRefused(begun);
      case 'wait':
        if (tries >= reserveTries) return park('stuck', begun.reason, { next: 'prepare', kind });
        state.progress.report('prepare', begun.reason, attempt);
        await condition(() => state.isEnded, reserveAgainMs);
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

/**
 * `ended` when the client cancels while the chain is asked: until signing begins that ends the transfer at once. A chain that knows
 * already that the transaction would fail refuses a first attempt.
 */
async function prepareOrRefuse(state: TransferState, attempt: number, kind: AttemptKind): Promise<Prepared | Refused | 'ended'> {
  const scope = new CancellationScope();
  const watch = condition(() => state.isEnded).then(() => scope.cancel());
  watch.catch(() => undefined);
  try {
    return await scope.run(() => chainActivities(state.transfer.chain).prepareAttempt({ txId: state.txId, attempt, kind }));
  } catch (error) {
    if (isCancelled(error) && state.isEnded) return 'ended';
    const { code, message, retryable } = toProblem(error);
    if (isCancelled(error) || retryable || kind !== 'first') throw error;
    return { outcome: 'refused', code, reason: message };
  }
}
