/**
 * Contracts of the transfer workflow: plain serialisable data, amounts as decimal strings of atomic units. Old histories replay
 * against them: add optional fields, never rename (see CONTRIBUTING.md).
 */
import { defineSignal, defineUpdate } from '@temporalio/workflow';
import type { AttemptKind, FamilyRules, Hex, Prepared } from '../chains/types';
import type { FailureCode } from '../platform/codes';
import type { SignTransactionRequest } from './signing';

/** Everything else is in the rows: a run that continues another, or is started again by hand, begins in the same way. */
export interface TransferWorkflowInput {
  txId: string;
}

export interface TransferWorkflowResult {
  txId: string;
  status: string;
  code: FailureCode | null;
}

/** Somebody has approved the transfer. It is in the rows already: hearing of it twice does no harm. */
export const transferApprovedSignal = defineSignal('transferApproved');

/** The transfer was ended in the rows, by a cancellation or because nobody approved it in time. */
export const transferEndedSignal = defineSignal('transferEnded');

/** What the follower saw of this transfer's transactions. */
export const chainObservedSignal = defineSignal<[ChainObservation]>('chainObserved');

/** Operators: resume a transfer parked in NEEDS_ATTENTION. */
export const retryUpdate = defineUpdate<{ status: string }>('retry');

/** Operators: give a transfer up that is parked after its signing has begun. Fails with business_error otherwise. */
export const abandonUpdate = defineUpdate<{ status: string }>('abandon');

/** What the workflow needs to know of a transfer whose funds are held. */
export interface HeldTransfer {
  txId: string;
  chain: string;
  tokenSymbol: string;
  /** Display units, for operators. */
  amount: string;
  requiredConfirmations: number;
  /** After this long without inclusion something has to be done: see `rules.stuck`. */
  stuckAfterMs: number;
  explorerTx: string | null;
  rules: FamilyRules;
  /** Number of the newest attempt; 0 before signing has begun. */
  lastAttempt: number;
  isAbandoned: boolean;
  /** An attempt may be known to the chain: its status is followed before anything else is done. */
  isFollowed: boolean;
}

export type AdoptedHold =
  | { outcome: 'held'; transfer: HeldTransfer }
  | { outcome: 'ended'; status: string; code: FailureCode | null; reason: string | null };

export type ScreeningVerdict =
  | { outcome: 'allowed' }
  | { outcome: 'refused'; code: FailureCode; reason: string }
  /** AWAITING_APPROVAL: to be asked again once somebody has approved it, or after this long. */
  | { outcome: 'awaiting_approval'; waitMs: number };

/** Result of the compare-and-set into SIGNING: from here on the payload counts as signed. */
export type BeginSigningResult =
  | { outcome: 'begun'; attempt: number; request: Omit<SignTransactionRequest, 'peer'> }
  /** The attempt was signed before (a retry after a crash): continue with its bytes. */
  | { outcome: 'signed'; attempt: number }
  /** Cancelled or ended meanwhile. */
  | { outcome: 'ended'; status: string }
  /** What it would spend is not spendable yet. */
  | { outcome: 'wait'; reason: string }
  | { outcome: 'refused'; code: FailureCode; reason: string };

/** An attempt that is about to be made. */
export interface NextAttempt {
  txId: string;
  /** 1 for the first transaction, then one more for each. */
  attempt: number;
  kind: AttemptKind;
}

export interface SignedAttempt {
  txId: string;
  attempt: number;
  signatures: Hex[];
}

export type BroadcastResult =
  | { outcome: 'accepted'; hash: string }
  | { outcome: 'rejected'; reason: string }
  /** Nothing was sent: the destination was blacklisted after signing had begun. */
  | { outcome: 'blacklisted' }
  /** Nothing was sent: the transfer is abandoned, only its cancellation is sent. */
  | { outcome: 'withheld' };

/** What the chain says of a transfer; sent by the follower as signal, or asked by the workflow's poll timer. */
export interface ChainObservation {
  /** `impossible`: every attempt has a stored proof that the chain will never execute it. */
  state: 'absent' | 'pending' | 'included' | 'confirmed' | 'impossible';
  /** Transaction id on the chain. */
  hash: string | null;
  blockNumber: number | null;
  confirmations: number;
}

export interface SettleResult {
  /** WAITING: a reorganisation has taken the inclusion back, or the cancellation of an abandoned transfer is not final yet. */
  status: 'CONFIRMED' | 'FAILED' | 'NEEDS_ATTENTION' | 'WAITING';
  code: FailureCode | null;
  reason: string | null;
}

/** An end of a transfer of which nothing was signed. */
export interface EndTransfer {
  txId: string;
  status: 'REJECTED' | 'FAILED';
  code: FailureCode;
  reason: string;
}

/** How a transfer has ended. */
export interface TransferEnd {
  status: string;
  code: FailureCode | null;
  reason: string | null;
}

/** Short database steps; run as local activities by the main worker. All are idempotent on txId. */
export interface TransferActivities {
  /** Reads what was accepted: the funds that are held, or how the transfer has ended. */
  adoptHold(input: { txId: string }): Promise<AdoptedHold>;
  /** Every rule; begins and ends the wait for an approval. */
  screenTransfer(input: { txId: string }): Promise<ScreeningVerdict>;
  /** Unlocks everything and ends the transfer; refuses (intent is a bug) once signing has begun. */
  endTransfer(input: EndTransfer): Promise<{ status: string }>;
  /** Whether the destination is on the client's blacklist now. */
  destinationBlacklisted(input: { txId: string }): Promise<boolean>;
  /** Two nodes have refused the first attempt by their own limits: the transfer is given up. */
  recordPolicyRefusal(input: { txId: string; reason: string }): Promise<void>;
  /** `cancellation` moves nothing and uses up what the earlier attempts would spend. */
  beginSigning(input: NextAttempt & { prepared: Prepared }): Promise<BeginSigningResult>;
  /** Answers the transaction id of the recorded bytes. */
  recordSigned(input: SignedAttempt): Promise<{ hash: string }>;
  markSubmitted(input: { txId: string; attempt: number }): Promise<{ status: string }>;
  /** Records that a transfer whose attempts expire is given up: from then on nothing is signed or sent for it. */
  abandonTransfer(input: { txId: string }): Promise<void>;
  /** Posts amount and real fee and unlocks the rest, or refunds. Reads the observed effect from the attempts. */
  settleTransfer(input: { txId: string }): Promise<SettleResult>;
  /** FAILED and unlocked: every attempt has a proof that the chain will never execute it. */
  failByProof(input: { txId: string; code: FailureCode; reason: string }): Promise<TransferEnd>;
  /** Parks the transfer in NEEDS_ATTENTION for an operator. */
  parkTransfer(input: { txId: string; code: FailureCode; reason: string }): Promise<void>;
}

/** Steps that talk to a chain; run on the task queue of that chain. */
export interface ChainActivities {
  /** Facts for an attempt; for one that was begun before the facts it was begun with. */
  prepareAttempt(input: NextAttempt): Promise<Prepared>;
  /** Broadcasts a signed attempt ("already known" is success). */
  broadcast(input: { txId: string; attempt: number }): Promise<BroadcastResult>;
  /** Asks the chain directly, for the workflow's poll timer; broadcasts again what the chain has forgotten. */
  observe(input: { txId: string }): Promise<ChainObservation>;
}
