/**
 * Contracts of the transfer workflow: plain serialisable data, amounts as decimal strings of atomic units. Old histories replay
 * against them: add optional fields, never rename (see CONTRIBUTING.md).
 */
import { defineSignal, defineUpdate } from '@temporalio/workflow';
import type { AttemptKind, Hex, Prepared } from '../chains/types';
import type { FailureCode } from '../platform/codes';
import type { SignTransactionRequest } from './signing';

export type { AttemptKind, Prepared } from '../chains/types';

export interface TransferWorkflowInput {
  txId: string;
  clientId: string;
  /**
   * Set when the run continues an earlier one whose history had grown long, or that was lost: an operator's start leaves
   * the lock to the update `submit`.
   */
  continued?: { lock?: LockedTransfer; attempt: number; submitted: boolean };
}

export interface TransferWorkflowResult {
  txId: string;
  status: string;
  code: FailureCode | null;
}

/** Locks the funds; its answer is the answer of POST /transfer. updateId is the tx_id. */
export const submitUpdate = defineUpdate<TransferAccepted, [TransferRequest]>('submit');

/** Cancels before signing has begun; fails with not_cancellable after. */
export const cancelUpdate = defineUpdate<{ status: string }, [RequestedBy | undefined]>('cancel');

/** Somebody has approved the transfer: it is on record already, so that hearing of it twice or never does no harm. */
export const transferApprovedSignal = defineSignal('transferApproved');

/** Operators: resume a transfer parked in NEEDS_ATTENTION. */
export const retryUpdate = defineUpdate<{ status: string }>('retry');

/** Operators: give a transfer up that is parked after its signing has begun; a cancellation uses up its nonce. Fails with business_error otherwise. */
export const abandonUpdate = defineUpdate<{ status: string }>('abandon');

/** What the follower saw of this transfer's transactions. */
export const chainObservedSignal = defineSignal<[ChainObservation]>('chainObserved');

export interface TransferRequest {
  txId: string;
  clientId: string;
  userId: string;
  requestId: string;
  idempotencyKey: string | null;
  fromAddress: string;
  toAddress: string;
  chain: string;
  tokenSymbol: string;
  /** Display units, as the client wrote them. */
  amount: string;
  memo: string | null;
}

/** Answer of the lock: what POST /transfer returns. */
export interface TransferAccepted {
  txId: string;
  status: string;
}

export interface LockedTransfer extends TransferAccepted {
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

/** Who asked for an act, for the audit log. */
export interface RequestedBy {
  userId: string;
  requestId: string;
}

/** An attempt that is about to be made. */
export interface NextAttempt {
  txId: string;
  /** 1 for the first transaction, then one more for each. */
  attempt: number;
  kind: AttemptKind;
}

/** Result of the compare-and-set into SIGNING: from here on the payload counts as signed. */
export type BeginSigningResult =
  | { outcome: 'begun'; attempt: number; request: Omit<SignTransactionRequest, 'peer'> }
  /** The attempt was signed before (a retry after a crash): continue with its bytes. */
  | { outcome: 'signed'; attempt: number }
  /** Cancelled or ended meanwhile. */
  | { outcome: 'ended'; status: string }
  /** Nothing was begun: what the attempt would use up is taken for the time being. */
  | { outcome: 'wait'; reason: string }
  /** Nothing was begun. */
  | { outcome: 'refused'; code: FailureCode; reason: string };

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
  /** Nothing was sent: the transfer is given up, only cancellations are sent for it. */
  | { outcome: 'withheld' };

/** A transfer's whereabouts as the chain tells; sent by the follower as signal, or asked by the workflow's fallback timer. */
export interface ChainObservation {
  /** `impossible`: every attempt has a stored proof that it can never be executed. */
  state: 'absent' | 'pending' | 'included' | 'confirmed' | 'impossible';
  hash: string | null;
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
  lockTransfer(request: TransferRequest): Promise<LockedTransfer>;
  /** Every rule; begins and ends the wait for an approval. */
  screenTransfer(input: { txId: string }): Promise<ScreeningVerdict>;
  /** Unlocks everything and ends the transfer; refuses (intent is a bug) once signing has begun. */
  endTransfer(input: EndTransfer): Promise<{ status: string }>;
  /** Cancels if signing has not begun: CANCELLED and unlocked, else not_cancellable. */
  cancelTransfer(input: { txId: string; by?: RequestedBy }): Promise<{ status: string }>;
  /** Whether the destination is on the client's blacklist now. */
  destinationBlacklisted(input: { txId: string }): Promise<boolean>;
  /** After a cancellation has begun every later attempt is one. */
  beginSigning(input: NextAttempt & { prepared: Prepared }): Promise<BeginSigningResult>;
  recordSigned(input: SignedAttempt): Promise<{ hash: string }>;
  markSubmitted(input: { txId: string; attempt: number }): Promise<{ status: string }>;
  /** Posts amount and real fee and unlocks the rest, or refunds. Reads the observed effect from the attempts table. */
  settleTransfer(input: { txId: string }): Promise<SettleResult>;
  /** Ends as FAILED and unlocks a transfer of which every attempt has a stored proof of impossibility; refused otherwise. */
  failByProof(input: { txId: string; code: FailureCode; reason: string }): Promise<{ status: string }>;
  /** Parks or un-parks the transfer. */
  markAttention(input: { txId: string; code: FailureCode; reason: string }): Promise<void>;
}

/** Steps that talk to a chain; run on the task queue of that chain. */
export interface ChainActivities {
  /** Facts for an attempt; for one that was begun before the facts it was begun with. */
  prepareAttempt(input: NextAttempt): Promise<Prepared>;
  /** Broadcasts a signed attempt ("already known" is success). */
  broadcast(input: { txId: string; attempt: number }): Promise<BroadcastResult>;
  /** Asks the chain directly, for the workflow's fallback timer; re-broadcasts what the chain has forgotten, stores proofs. */
  observe(input: { txId: string }): Promise<ChainObservation>;
}
