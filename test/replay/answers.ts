import type {
  AdoptedHold,
  ApprovalResult,
  BeginSigningResult,
  BroadcastResult,
  ChainObservation,
  FundingResult,
  ParkResult,
  ScreeningVerdict,
  SettleResult,
  TurnResult,
} from '../../src/messages/transfer';
import type { HistoryName } from './endings';

/** One history of those that show an answer. */
type Shown<Answer extends string> = Record<Answer, HistoryName>;
type Begun = BeginSigningResult['outcome'];

/**
 * Every answer that an activity may give the workflow of a transfer, by its contract: what the workflow does about it has a history.
 * `failed` is an error that is not tried again.
 */
interface Answers {
  adoptHold: Shown<AdoptedHold['outcome'] | 'failed'>;
  screenTransfer: Shown<ScreeningVerdict['outcome']>;
  endTransfer: Shown<'REJECTED' | 'FAILED' | 'CANCELLED'>;
  'prepareAttempt first': Shown<'done' | 'failed' | 'cancelled'>;
  /** One that has begun is `stale` for whoever does not know it. */
  'beginSigning first': Shown<Exclude<Begun, 'signed'>>;
  /** Answers that are not about the kind of attempt are those of the first one. */
  'beginSigning replacement': Shown<'begun' | 'refused'>;
  'beginSigning reissue': Shown<'begun' | 'refused'>;
  'beginSigning cancellation': Shown<'begun' | 'refused' | 'stale'>;
  /** Nothing that has begun is waited for or approved. */
  'beginSigning resume': Shown<Exclude<Begun, 'wait' | 'needs_approval'>>;
  signTransaction: Shown<'done' | 'failed'>;
  destinationBlacklisted: Shown<'yes' | 'no'>;
  recordNodeRefusals: Shown<'accepted' | 'not accepted'>;
  broadcast: Shown<BroadcastResult['outcome']>;
  observe: Shown<ChainObservation['state'] | 'failed'>;
  abandonTransfer: Shown<'done'>;
  settleTransfer: Shown<SettleResult['status'] | 'failed'>;
  failByProof: Shown<'FAILED' | 'failed'>;
  parkTransfer: Shown<ParkResult['outcome']>;
  readTurn: Shown<TurnResult['outcome']>;
  recordOperatorAct: Shown<'done'>;
  fundPayer: Shown<FundingResult['outcome']>;
  sendApproval: Shown<ApprovalResult['outcome']>;
}

export const answers: Answers = {
  adoptHold: { held: 'transfer-confirmed', ended: 'transfer-cancelled', failed: 'transfer-failed-without-transaction' },
  screenTransfer: {
    allowed: 'transfer-confirmed',
    refused: 'transfer-rejected',
    awaiting_approval: 'transfer-confirmed-approved',
  },
  endTransfer: {
    REJECTED: 'transfer-rejected',
    FAILED: 'transfer-failed-before-signing',
    CANCELLED: 'transfer-cancelled-while-refused',
  },
  'prepareAttempt first': {
    done: 'transfer-confirmed',
    failed: 'transfer-failed-before-signing',
    cancelled: 'transfer-cancelled-preparing',
  },
  'beginSigning first': {
    begun: 'transfer-confirmed',
    stale: 'transfer-confirmed-answer-lost',
    ended: 'transfer-cancelled-before-signing',
    needs_approval: 'transfer-confirmed-approval-at-signing',
    wait: 'transfer-cancelled-waiting-to-begin',
    refused: 'transfer-failed-fee-above-bound',
  },
  'beginSigning replacement': { begun: 'transfer-confirmed-replaced', refused: 'transfer-failed-blacklisted-stuck' },
  'beginSigning reissue': { begun: 'transfer-confirmed-reissued', refused: 'transfer-failed-reissue-too-late' },
  'beginSigning cancellation': {
    begun: 'transfer-failed-abandoned',
    refused: 'transfer-confirmed-executed-before-cancellation',
    stale: 'transfer-failed-blacklisted-withheld',
  },
  'beginSigning resume': {
    begun: 'transfer-confirmed-order-renewed',
    signed: 'transfer-confirmed-run-lost-after-signature',
    stale: 'transfer-failed-blacklisted-overtaken',
    ended: 'transfer-confirmed-settled-before-order',
    refused: 'transfer-confirmed-rebuilt-absent',
  },
  signTransaction: { done: 'transfer-confirmed', failed: 'transfer-confirmed-key-frozen' },
  destinationBlacklisted: { yes: 'transfer-failed-blacklisted', no: 'transfer-confirmed-blacklist-outdated' },
  recordNodeRefusals: {
    accepted: 'transfer-failed-node-policy',
    'not accepted': 'transfer-confirmed-refusals-unproven',
  },
  broadcast: {
    accepted: 'transfer-confirmed',
    waiting: 'transfer-confirmed-taken-later',
    rejected: 'transfer-confirmed-broadcast-rejected',
    blacklisted: 'transfer-failed-blacklisted-signed',
    withheld: 'transfer-failed-blacklisted-withheld',
    unsigned: 'transfer-confirmed-sent-before-signed',
  },
  observe: {
    absent: 'transfer-confirmed-forgotten',
    pending: 'transfer-confirmed-replaced',
    included: 'transfer-confirmed-rebuilt-executed',
    confirmed: 'transfer-confirmed-rebuilt-settled',
    impossible: 'transfer-confirmed-reissued',
    failed: 'transfer-confirmed-retried',
  },
  abandonTransfer: { done: 'transfer-failed-by-proof' },
  settleTransfer: {
    CONFIRMED: 'transfer-confirmed',
    FAILED: 'transfer-failed-on-chain',
    NEEDS_ATTENTION: 'transfer-needs-attention',
    WAITING: 'transfer-confirmed-settled-later',
    failed: 'transfer-confirmed-ended-when-parked',
  },
  failByProof: { FAILED: 'transfer-failed-by-proof', failed: 'transfer-needs-attention-nonce-unproven' },
  parkTransfer: { parked: 'transfer-confirmed-retried', ended: 'transfer-confirmed-ended-when-parked' },
  readTurn: { behind: 'transfer-confirmed-behind-parked', free: 'transfer-confirmed-behind-parked' },
  recordOperatorAct: { done: 'transfer-failed-acts-in-temporal' },
  fundPayer: { funded: 'settlement-confirmed-approved', refused: 'settlement-failed-not-funded' },
  sendApproval: {
    executed: 'settlement-confirmed-approved',
    waiting: 'settlement-confirmed-approved',
    refused: 'settlement-failed-approval-replaced',
  },
};
