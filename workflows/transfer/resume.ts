import type { AttemptKind } from '../../src/chains/types';
import type { BeginSigningResult } from '../../src/messages/transfer';
import { authoriserActivities, transferActivities } from '../activities';
import { waitsForAuthoriser } from '../progress';
import { ended, type Next, park } from './next';
import type { TransferState } from './state';

/** Calls until the newest attempt is known: another may begin between two of them. */
const resumeTries = 10;

/**
 * Another order over the bytes of the newest attempt, of which this run knows `kind`: after its order has expired, or when the attempt
 * was begun without the knowledge of this run. Lists and approval are read again; a first attempt whose destination was listed in the
 * meantime is abandoned.
 */
export async function resume(state: TransferState, kind: AttemptKind): Promise<Next> {
  const { txId } = state;
  let newest = kind;
  state.progress.report(
    'resume',
    'Another order over the same bytes',
    state.lastAttempt,
    waitsForAuthoriser('order the signature'),
  );
  for (let tries = 0; tries < resumeTries; tries += 1) {
    const begun = await authoriserActivities.beginSigning({ txId, lastAttempt: state.lastAttempt, kind: 'resume' });
    switch (begun.outcome) {
      case 'begun':
      case 'signed':
        return toNext(state, begun);
      case 'stale':
        state.lastAttempt = begun.attempt;
        newest = begun.kind;
        continue;
      case 'ended':
        return { next: 'lock' };
      case 'refused':
        if (begun.isExecuted) return follow(state);
        if (begun.code === 'abandoned') return followAbandoned(state);
        if (begun.code === 'address_blacklisted' && newest === 'first') return { next: 'abandon' };
        if (begun.code === 'expired') return followUntilOver(state);
        return park(begun.code, begun.reason, { next: 'resume', kind: newest });
      case 'wait':
      case 'needs_approval':
        throw new Error(`a resumed attempt is not ${begun.outcome}`);
    }
  }
  return park('stuck', 'The newest attempt could not be found', { next: 'resume', kind: newest });
}

/** The attempt is signed next, or sent if it is already signed. */
export function toNext(state: TransferState, begun: Extract<BeginSigningResult, { outcome: 'begun' | 'signed' }>): Next {
  const { attempt, kind } = begun;
  state.lastAttempt = attempt;
  // from here on only cancellations are signed: after any interruption the chain is followed
  if (kind === 'cancellation') state.isAbandoned = state.isFollowed = true;
  if (begun.outcome === 'signed') return { next: 'broadcast', attempt, tries: 1 };
  const { unsigned, order, expiresAtMs, endsWithBytes, timeLeftMs } = begun;
  if (timeLeftMs !== undefined) state.limitTime(timeLeftMs);
  return { next: 'sign', attempt, kind, unsigned, order, expiresAtMs, ...(endsWithBytes && { endsWithBytes }) };
}

/**
 * Nothing more of it is signed but its cancellation, if the chain has not executed what was sent when its time is over. The time that is
 * left is read again: it ends early where nobody needs the transaction any more.
 */
export async function followUntilOver(state: TransferState): Promise<Next> {
  const adopted = await transferActivities.adoptHold({ txId: state.txId });
  if (adopted.outcome === 'ended') return ended(adopted);
  state.adopt(adopted.transfer);
  state.isFollowed = true;
  return { next: 'confirm' };
}

/** A block holds an attempt: it is confirmed, not signed again. */
function follow(state: TransferState): Next {
  state.isFollowed = true;
  return { next: 'confirm' };
}

/** Another run has abandoned the transfer: this one only follows what was sent. */
export function followAbandoned(state: TransferState): Next {
  state.isAbandoned = state.isFollowed = true;
  return { next: 'confirm' };
}
