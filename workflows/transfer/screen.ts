import { transferActivities } from '../activities';
import { endUnsigned } from './end-unsigned';
import type { Next } from './next';
import type { TransferState } from './state';

/** Applies the rules again: the data may have changed since the transfer was accepted. A required approval is waited for here. */
export async function screen(state: TransferState): Promise<Next> {
  for (let hasWaited = false; ; hasWaited = true) {
    if (state.isEnded) return { next: 'lock' };
    state.progress.needsDatabase('screen', 'The rules are applied to current data');
    const verdict = await transferActivities.screenTransfer({ txId: state.txId });
    if (verdict.outcome === 'refused') return endUnsigned(state);
    if (verdict.outcome === 'allowed') {
      if (hasWaited) state.progress.status('PENDING');
      return state.transfer.needsSponsoring ? { next: 'sponsor' } : { next: 'prepare', kind: 'first' };
    }
    state.progress.status('AWAITING_APPROVAL');
    const detail = 'Not on the whitelist: waiting for POST /transactions/{tx_id}/approve';
    const rest = 'Rejected by itself when nobody of the client does that in time; nothing to do for an operator.';
    state.progress.report('screen', detail, 1, `**Waits for an approval** by a user of the client (${detail}). ${rest}`);
    // the database's clock decides: if the timer fires early, the rest is waited for
    await state.approval(Math.max(verdict.waitMs, 1000));
  }
}
