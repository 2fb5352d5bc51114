import { patched } from '@temporalio/workflow';
import type { AttemptKind } from '../../src/chains/types';
import type { OrderedAttempt, TransferEnd } from '../../src/messages/transfer';
import type { FailureCode } from '../../src/platform/codes';
import type { TransferState } from './state';

/** Waits for an operator or for a new observation of the chain; a retry continues at `onRetry`, an abandon at `abandoned`. */
export interface Park {
  next: 'park';
  code: FailureCode;
  reason: string;
  onRetry: Next;
  /** Null where it cannot be abandoned: what the transfer spends is used up, and nothing proves that it was not by one of its attempts. */
  abandoned: Next | null;
  /** What it waits for may pass without an operator. */
  isForNow?: true;
}

/** Why an attempt has not begun. */
export interface NotBegun {
  code: FailureCode;
  reason: string;
}

/** The next stage. */
export type Next =
  | { next: 'lock' }
  /** What the chain has done with an attempt of an earlier run, whose signatures are not stored. */
  | { next: 'ask' }
  | { next: 'screen' }
  /** The approval of a payer, before its settlement. */
  | { next: 'sponsor' }
  | { next: 'prepare'; kind: AttemptKind }
  /** Another order over the bytes of the newest attempt, which has this kind. */
  | { next: 'resume'; kind: AttemptKind }
  | ({ next: 'sign' } & OrderedAttempt)
  | { next: 'broadcast'; attempt: number; tries: number }
  /** `notBegun`: why nothing new is sent before. */
  | { next: 'confirm'; notBegun?: NotBegun }
  | { next: 'settle' }
  | { next: 'abandon' }
  /** The same as an operator's request, which is asked of the chain once more. */
  | { next: 'proveAgain' }
  /** The end of what is abandoned and proven impossible. */
  | { next: 'failByProof' }
  | Park
  | { next: 'ended'; end: TransferEnd };

/** Where an interrupted transfer continues. */
export const continueFromRows = (state: TransferState): Next => (state.isFollowed ? { next: 'confirm' } : { next: 'screen' });

export const park = (
  code: FailureCode,
  reason: string,
  onRetry: Next,
  abandoned: Park['abandoned'] = { next: 'abandon' },
): Park => ({ next: 'park', code, reason, onRetry, abandoned });

/** As `park`, of what is tried again by itself from time to time. */
export const parkForNow = (...parked: [code: FailureCode, reason: string, onRetry: Next]): Park => ({
  ...park(...parked),
  isForNow: true,
});

/**
 * As `parkForNow`, where no node takes the newest attempt for a reason that passes: what is sent again then is told to operators sooner if it is
 * refused once more. Nobody else sends it, and the line of its sender waits.
 */
export function parkRefused(state: TransferState, ...parked: Parameters<typeof parkForNow>): Park {
  // a worker of an earlier release has waited for an operator
  if (!patched('refused-tried-again')) return park(...parked);
  state.toldAttempt = state.lastAttempt;
  return parkForNow(...parked);
}

/** Nothing at a higher fee takes its place: what waits in a pool is an operator's, what no node takes is also sent again by itself. */
export function parkStuck(state: TransferState, reason: string): Park {
  const { unsent, lastAttempt: attempt } = state;
  if (!unsent || !patched('refused-tried-again')) return park('stuck', reason, { next: 'confirm' });
  return parkRefused(state, 'stuck', `${reason}. No node takes the last attempt: ${unsent.reason}`, {
    ...{ next: 'broadcast', attempt, tries: 1 },
  });
}

export const ended = (end: TransferEnd): Next => ({ next: 'ended', end });
