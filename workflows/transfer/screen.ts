import { transferActivities } from '../activities';
import { endUnsigned, leaveIfEnded } from './leaving';
import type { TransferRun } from './run';

/** The rules again, authoritatively: what the API saw may have changed meanwhile. What somebody has to approve waits for that. */
export async function screen(run: TransferRun): Promise<void> {
  for (let waited = false; ; waited = true) {
    run.live.at('screening');
    const verdict = await transferActivities.screenTransfer({ txId: run.txId });
    leaveIfEnded(run);
    if (verdict.allowed) {
      if (waited) run.live.status('PENDING');
      return;
    }
    if (verdict.code !== null) return endUnsigned(run, 'REJECTED', verdict.code, verdict.reason);
    run.live.status('AWAITING_APPROVAL');
    run.live.at('awaiting approval', 'Not on the whitelist: somebody has to approve it, POST /transactions/{tx_id}/approve');
    // the database's clock decides: should the timer be early, the rest is waited for
    await run.approval(Math.max(verdict.waitMs, 1000));
    leaveIfEnded(run);
  }
}
