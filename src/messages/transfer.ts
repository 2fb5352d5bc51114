/**
 * Contracts of the transfer workflow: plain serialisable data, amounts as decimal strings of atomic units. Old histories replay
 * against them: add optional fields, never rename (see CONTRIBUTING.md).
 */
import { defineSignal, defineUpdate } from '@temporalio/workflow';
import type { Hex } from '../chains/types';
import type { FailureCode } from '../platform/codes';
import type { SignTransactionRequest } from './signing';

export interface TransferWorkflowInput {
  txId: string;
  /** Set when the run continues an earlier one whose history had grown long, or that was lost. */
  continued?: { attempt: number; submitted: boolean };
}

export interface TransferWorkflowResult {
  txId: string;
  status: string;
  code: FailureCode | null;
}

/** Somebody has approved the transfer: it is on record already, so that hearing of it twice or never does no harm. */
export const transferApprovedSignal = defineSignal('transferApproved');

/** The transfer has ended outside of its workflow: cancelled by its client, or not approved in time. */
export const transferEndedSignal = defineSignal('transferEnded');

/** Operators: resume a transfer parked in NEEDS_ATTENTION. */
export const retryUpdate = defineUpdate<{ status: string }>('retry');

/** Operators: give a transfer up that is parked after its signing has begun; a cancellation uses up its nonce. Fails with business_error otherwise. */
export const abandonUpdate = defineUpdate<{ status: string }>('abandon');

/** What the follower saw of this transfer's transactions. */
export const chainObservedSignal = defineSignal<[ChainObservation]>('chainObserved');

/** What accepting the transfer has locked. */
export interface LockedTransfer {
  txId: string;
  status: string;
  walletId: string;
  tokenSymbol: string;
  chain: string;
  /** For the operator's eyes in the Temporal UI. */
  amount: string;
  stuckAfterMs: number;
  requiredConfirmations: number;
  explorerTx: string | null;
}

export type ScreeningVerdict =
  | { allowed: true }
  | { allowed: false; code: FailureCode; reason: string }
  /** AWAITING_APPROVAL: to be asked again once somebody has approved it, or after this long. */
  | { allowed: false; code: null; waitMs: number };

/** Chain facts gathered before the nonce is taken; all amounts atomic units of the native coin. */
export interface PreparedFees {
  gasLimit: string;
  /** EIP-1559; null on chains without it. */
  maxFeePerGas: string | null;
  maxPriorityFeePerGas: string | null;
  /** Legacy; null with EIP-1559. */
  gasPrice: string | null;
  l1DataFee: string;
  /** Transactions of the sender already mined: nonces below are gone. */
  minedNonce: number;
}

/** Result of the compare-and-set into SIGNING: from here on the payload counts as signed. */
export type BeginSigningResult =
  | { outcome: 'begun'; request: Omit<SignTransactionRequest, 'peer'> }
  /** The attempt was signed before (a retry after a crash): continue with its bytes. */
  | { outcome: 'already_signed'; hash: Hex }
  /** Cancelled or ended meanwhile. */
  | { outcome: 'ended'; status: string }
  /** Fees have risen above what is locked and the account cannot lock more. */
  | { outcome: 'refused'; code: FailureCode; reason: string };

export interface SignedAttempt {
  txId: string;
  attempt: number;
  signatures: Hex[];
}

export type BroadcastResult =
  | { outcome: 'accepted'; hash: Hex }
  | { outcome: 'rejected'; reason: string }
  /** Nothing was sent: the destination was blacklisted after signing had begun. */
  | { outcome: 'blacklisted' }
  /** Nothing was sent: the transfer is given up, only cancellations are sent for it. */
  | { outcome: 'withheld' };

/** A transfer's whereabouts as the chain tells; sent by the follower as signal, or asked by the workflow's fallback timer. */
export interface ChainObservation {
  state: 'absent' | 'pending' | 'included' | 'confirmed' | 'impossible';
  hash: Hex | null;
  blockNumber: number | null;
  confirmations: number;
}

export interface SettleResult {
  /** WAITING: a reorganisation has taken the inclusion back, or the cancellation of a released transfer is not final yet. */
  status: 'CONFIRMED' | 'FAILED' | 'NEEDS_ATTENTION' | 'WAITING';
  code: FailureCode | null;
  reason: string | null;
}

export interface EndTransfer {
  txId: string;
  status: 'REJECTED' | 'FAILED' | 'CANCELLED';
  code: FailureCode | null;
  reason: string | null;
}

/** Short database steps; run as local activities by the main worker. All are idempotent on txId. */
export interface TransferActivities {
  /** Reads what accepting the transfer has locked; `status` also tells that it has ended. */
  adoptHold(input: { txId: string }): Promise<LockedTransfer>;
  /** Every rule; begins and ends the wait for an approval. */
  screenTransfer(input: { txId: string }): Promise<ScreeningVerdict>;
  /** Unlocks everything and ends the transfer; refuses (intent is a bug) once signing has begun. */
  endTransfer(input: EndTransfer): Promise<{ status: string }>;
  /** Whether the destination is on the client's blacklist now. */
  destinationBlacklisted(input: { txId: string }): Promise<boolean>;
  /** `noop` gives the transfer up: this attempt and all later ones only use up its nonce. */
  beginSigning(input: { txId: string; attempt: number; fees: PreparedFees; kind?: 'cancellation' }): Promise<BeginSigningResult>;
  recordSigned(input: SignedAttempt): Promise<{ hash: Hex }>;
  markSubmitted(input: { txId: string; attempt: number }): Promise<{ status: string }>;
  /** Posts amount and real fee and unlocks the rest, or refunds. Reads the observed effect from the attempts table. */
  settleTransfer(input: { txId: string }): Promise<SettleResult>;
  /** Parks or un-parks the transfer. */
  markAttention(input: { txId: string; code: FailureCode; reason: string }): Promise<void>;
}

/** Steps that talk to a chain; run on the task queue of that chain. */
export interface ChainActivities {
  prepareFees(input: { txId: string; attempt: number; kind?: 'cancellation' }): Promise<PreparedFees>;
  /** Broadcasts the newest signed attempt ("already known" is success). */
  broadcast(input: { txId: string; attempt: number }): Promise<BroadcastResult>;
  /** Asks the chain directly, for the workflow's fallback timer; re-broadcasts what the chain has forgotten. */
  observe(input: { txId: string }): Promise<ChainObservation>;
}
