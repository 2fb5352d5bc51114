import { type FailureCode, failureCodes, runbookOf } from '../../platform/codes';
import type { TransactionEntity } from '../../transactions/entity';
import { isEnded } from '../../transactions/state';
import type { WorkflowView } from './workflow';

export interface StateFacts {
  tx: TransactionEntity;
  workflow: Pick<WorkflowView, 'state'>;
  /** Since when the start of its workflow waits to be delivered; null: it does not. */
  startWaitsSince: Date | null;
  /** Another transaction of the same sender that is to be executed first. */
  behind: string | null;
  /** Milliseconds until it is abandoned by time; null: it is not. */
  timeLeftMs: number | null;
  /** Of `areOrdersCompared`. */
  areOrdersCompared: boolean;
}

/** Why a transaction is in its state, and what it waits for: sentences. */
export function explainState(facts: StateFacts): string[] {
  const { tx, workflow, startWaitsSince, behind, timeLeftMs, areOrdersCompared } = facts;
  const isOpen = tx.isSigned && !isEnded(tx);
  const isLost = isOpen && startWaitsSince === null && (workflow.state === 'closed' || workflow.state === 'missing');
  return [
    describe(tx),
    ...(tx.failureCode === null ? [] : describeCode(tx.failureCode)),
    ...(isOpen && startWaitsSince ? [`The start of its workflow waits since ${startWaitsSince.toISOString()}.`] : []),
    ...(isLost ? ['It has not ended, and its workflow is not running: nothing goes on until it is started again.'] : []),
    ...(isOpen && !areOrdersCompared ? [notCompared] : []),
    ...(isOpen && behind !== null ? [`Transaction ${behind} of the same sender comes first.`] : []),
    ...(isOpen && tx.cancellationReason !== null ? [`It is being abandoned: ${tx.cancellationReason}.`] : []),
    ...(isOpen && timeLeftMs !== null ? [describeTime(timeLeftMs)] : []),
    ...(tx.screeningNote === null ? [] : [`Screening: ${tx.screeningNote}.`]),
  ];
}

function describeCode(code: FailureCode): string[] {
  const paragraph = runbookOf(code);
  return paragraph === null ? [] : [`What ${code} means, and what to do: ${paragraph}`];
}

export const notCompared =
  'The database is not compared with the orders of the signing nodes: until it is, nothing is signed, and the API answers a cancellation or ' +
  'rejection 503 reconcile_required. If that lasts: `gateway reconcile`.';

const describeTime = (leftMs: number): string =>
  leftMs > 0
    ? `It is abandoned by itself in ${Math.ceil(leftMs / 1_000)} s if it is not executed.`
    : 'Its time is over: it is abandoned by itself.';

function describe(tx: TransactionEntity): string {
  switch (tx.status) {
    case 'PENDING':
      if (tx.signingBegunAt !== null) return 'Signing has begun.';
      return tx.isHeld ? 'Accepted, and its funds are locked; nothing is signed yet.' : 'Accepted; nothing is signed yet.';
    case 'AWAITING_APPROVAL':
      return `It waits until ${tx.approvalExpiresAt?.toISOString() ?? '?'} for a user of the client to approve it.`;
    case 'SIGNING':
      return 'Signing has begun: what is signed may be executed, so it cannot be cancelled.';
    case 'SUBMITTED':
      return `A node has taken it; it ends ${tx.requiredConfirmations} confirmations deep.`;
    case 'NEEDS_ATTENTION':
      return `Parked for an operator. ${describeFailure(tx)}`;
    case 'CONFIRMED':
      return tx.direction === 'in' ? 'Credited.' : 'Executed, and settled.';
    case 'REJECTED':
      return `Refused, by a rule or a user; nothing is locked any more. ${describeFailure(tx)}`;
    case 'FAILED':
      return `It has failed; nothing is locked any more. ${describeFailure(tx)}`;
    case 'CANCELLED':
      return tx.failureCode === null
        ? 'Cancelled by its client before anything was signed; nothing is locked any more.'
        : `Ended before anything was signed; nothing is locked any more. ${describeFailure(tx)}`;
    case 'DETECTED':
      return tx.blockNumber === null
        ? 'Seen before a block holds it: it is in no balance, and may never come.'
        : `In a block; credited ${tx.requiredConfirmations} confirmations deep.`;
    case 'ORPHANED':
      return 'A reorganisation has taken it back, or its transaction was replaced or dropped.';
  }
}

function describeFailure({ failureCode, failureMessage }: TransactionEntity): string {
  if (failureCode === null) return 'No reason is on record.';
  return `${failureCode} (${failureCodes[failureCode].title})${failureMessage === null ? '' : `: ${failureMessage}`}`;
}
