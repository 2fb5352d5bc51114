import type { FailureCode } from '../../src/platform/codes';
import { transferActivities } from '../activities';
import type { TransferRun } from './run';

/** Thrown to leave the steps; `run.ended` says how. */
export class Ended extends Error {}

/** Thrown to leave the steps when the transfer is given up, by an operator or for a blacklisted destination; `release` is next. */
export class Released extends Error {}

/** Signed, not broadcast, and not to be: a cancellation uses up the nonce, and nobody has to be asked. */
export function burn(run: TransferRun): never {
  run.releaseRequested = true;
  throw new Released();
}

/** Parks the transfer in NEEDS_ATTENTION until an operator's `retry` or news from the chain. Nothing is unlocked. */
export async function parkUntilRetry(...parked: Parameters<typeof park>): Promise<void> {
  const [run] = parked;
  await park(...parked);
  if (run.releaseRequested) throw new Released();
}

/** The same for the outermost loop, which looks at `releaseRequested` itself. */
export async function park(run: TransferRun, code: FailureCode, reason: string, { releasable = true } = {}): Promise<void> {
  await transferActivities.markAttention({ txId: run.txId, code, reason });
  run.live.status('NEEDS_ATTENTION', code);
  const release = releasable && run.attempt > 0 ? ' What never can go on is given up with the update `release`.' : '';
  run.live.at('needs attention', `${code}: ${reason}. Mend the cause, then send the update \`retry\`.${release}`, run.attempt);
  await run.attention({ releasable });
  run.retryRequested = false;
}

/** Unlocks and ends a transfer of which nothing was signed. */
export async function endUnsigned(
  run: TransferRun,
  status: 'REJECTED' | 'FAILED',
  code: FailureCode,
  reason: string,
): Promise<never> {
  const ended = await transferActivities.endTransfer({ txId: run.txId, status, code, reason });
  run.end({ status: ended.status, code, reason });
  throw new Ended();
}

export function leaveIfEnded(run: TransferRun): void {
  if (run.ended) throw new Ended();
}
