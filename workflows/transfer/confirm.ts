import type { ChainObservation } from '../../src/messages/transfer';
import { transferActivities, chainActivities } from '../activities';
import { parkUntilRetry } from './leaving';
import type { TransferRun } from './run';
import { signAndBroadcast } from './steps';

/** First and longest wait before the chain is asked directly, should the follower's signal not come. */
const firstFallbackMs = 15_000;
const longestFallbackMs = 10 * 60_000;
/** Attempts on one nonce before an operator is asked. */
const attemptLimit = 6;

/** Follows the submitted transfer to its end: settled, refunded, replaced when stuck, parked when time does not help. */
export async function confirm(run: TransferRun): Promise<void> {
  const wait = new Fallback();
  let lastBroadcastAt = Date.now();
  while (!run.ended) {
    const seen = await whereabouts(run, wait);
    if (seen.state === 'confirmed') {
      await settle(run);
      wait.reset();
    } else if (seen.state === 'included') {
      // a reorganisation may take it back: the time until it counts as stuck begins then
      lastBroadcastAt = Date.now();
      wait.reset();
    } else if (seen.state === 'impossible') {
      await parkUntilRetry(run, 'stuck', 'Another transaction has used the nonce', { releasable: false });
    } else if (Date.now() - lastBroadcastAt > run.transfer.stuckAfterMs) {
      await replace(run);
      lastBroadcastAt = Date.now();
      wait.reset();
    }
    if (run.historyIsLong && !run.ended) {
      run.wantsFreshHistory = true;
      return;
    }
  }
}

/** The follower's word, or the chain's own when the follower is silent; a retry asks the chain at once. */
async function whereabouts(run: TransferRun, wait: Fallback): Promise<ChainObservation> {
  const { requiredConfirmations, chain, stuckAfterMs } = run.transfer;
  run.live.at('confirming', `Waiting for ${requiredConfirmations} confirmations on ${chain}`, run.attempt);
  const told = await run.nextObservation(wait.next(stuckAfterMs));
  run.retryRequested = false;
  const seen = told ?? (await chainActivities(chain).observe({ txId: run.txId }));
  const link = seen.hash && run.transfer.explorerTx?.replace('{hash}', seen.hash);
  run.live.at(
    'confirming',
    [seen.state, `${seen.confirmations} of ${requiredConfirmations} confirmations`, link ?? seen.hash]
      .filter(Boolean)
      .join(' · '),
    run.attempt,
  );
  return seen;
}

/** Judged by effect and posted in one database transaction; what cannot be judged waits for an operator. */
async function settle(run: TransferRun): Promise<void> {
  run.live.at('settling', '', run.attempt);
  const { status, code, reason } = await transferActivities.settleTransfer({ txId: run.txId });
  if (status === 'WAITING') return;
  if (status === 'NEEDS_ATTENTION') {
    run.live.status(status, code);
    run.live.at(
      'needs attention',
      `${code ?? ''}: ${reason ?? ''}. Mend the cause, then send the update \`retry\`.`,
      run.attempt,
    );
    // what was included without the expected effect has used the nonce up
    await run.attention({ releasable: false });
    return;
  }
  run.end({ status, code, reason });
}

/** Same nonce, higher fee, within what is locked; beyond it an operator decides. */
async function replace(run: TransferRun): Promise<void> {
  const possible = run.attempt < attemptLimit && (await signAndBroadcast(run, 'replacement'));
  if (!possible) await parkUntilRetry(run, 'stuck', 'Not included in time, and a higher fee is beyond the locked bound');
}

/** Growing waits that start over whenever something moved. */
class Fallback {
  private waitMs = firstFallbackMs;

  next(stuckAfterMs: number): number {
    const waitMs = Math.min(this.waitMs, stuckAfterMs);
    this.waitMs = Math.min(this.waitMs * 2, longestFallbackMs);
    return waitMs;
  }

  reset(): void {
    this.waitMs = firstFallbackMs;
  }
}
