/**
 * Contracts of the transfer workflow: plain serialisable data, amounts as decimal strings of atomic units. Old histories are
 * replayed against them: add optional fields, never rename (see CONTRIBUTING.md).
 */
import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { AttemptKind, FamilyRules, Hex, Prepared } from '../chains/types';
import type { FailureCode } from '../platform/codes';
import type { NodeIndex } from './nodes';

/** Everything else is in the database: a run that continues another, or that an operator starts again, begins in the same way. */
export interface TransferWorkflowInput {
  txId: string;
}

export interface TransferWorkflowResult {
  txId: string;
  status: string;
  code: FailureCode | null;
}

/** A user has approved the transfer. This is already stored, so a repeated signal has no effect. */
export const transferApprovedSignal = defineSignal('transferApproved');

/** The transfer was ended in the database, by a cancellation or because nobody approved it in time. */
export const transferEndedSignal = defineSignal('transferEnded');

/** The follower's observation of this transfer's transactions. */
export const chainObservedSignal = defineSignal<[ChainObservation]>('chainObserved');

/** Operators: resume a transfer parked in NEEDS_ATTENTION. */
export const retryUpdate = defineUpdate<{ status: string }>('retry');

/** Operators: abandon a transfer that is parked after its signing has begun. Fails with business_error otherwise. */
export const abandonUpdate = defineUpdate<{ status: string }>('abandon');

/** What an operator has had the workflow do, or tried to; recorded in the audit log. */
export interface OperatorAct {
  txId: string;
  act: 'retry' | 'abandon' | 'cancel';
  /** Of the update, or of the run that was to be cancelled. */
  actId: string;
  /** Of the run that the act has come to; absent: of one before this was said. */
  runId?: string;
}

/** The updates that the run would take now. */
export interface PossibleUpdates {
  retry: boolean;
  abandon: boolean;
}

export const possibleUpdatesQuery = defineQuery<PossibleUpdates>('possibleUpdates');

/** Replacements of one transfer; the workflow parks it after them, and the authoriser orders no other one. */
export const maxReplacements = 5;

/** Data of a transfer whose funds are held, as the workflow needs it. */
export interface HeldTransfer {
  chain: string;
  requiredConfirmations: number;
  /** After this time without inclusion, `rules.stuck` applies. */
  stuckAfterMs: number;
  /** Between two blocks of the chain, for waits. */
  blockTimeMs: number;
  /** Blocks that follow one before it is looked at; absent: none. */
  headLag?: number;
  explorerTx: string | null;
  rules: FamilyRules;
  /** Number of the newest attempt; 0 before signing has begun. */
  lastAttempt: number;
  isAbandoned: boolean;
  /** Its status on the chain comes before anything else, in this run and after any interruption. */
  isFollowed: boolean;
  /**
   * The newest attempt has begun and its signatures are not stored, as after a crash, or when it was rebuilt from its order: it may have
   * been executed all the same.
   */
  isUnsigned: boolean;
  /** After this time what was not executed is cancelled; absent: never by time. */
  timeLeftMs?: number;
  /** The approval of a payer is to be executed before anything is signed. */
  needsSponsoring?: true;
}

export type AdoptedHold = { outcome: 'held'; transfer: HeldTransfer } | ({ outcome: 'ended' } & TransferEnd);

export type ScreeningVerdict =
  | { outcome: 'allowed' }
  | { outcome: 'refused'; code: FailureCode; reason: string }
  /** AWAITING_APPROVAL: call again once it is approved, or after this time. */
  | { outcome: 'awaiting_approval'; waitMs: number };

/** The bytes of an attempt and the order over them, for the nodes. */
export interface OrderedAttempt {
  attempt: number;
  kind: AttemptKind;
  unsigned: Hex;
  /** JWS in compact form (order.ts). */
  order: string;
  /** Milliseconds since the epoch; nodes refuse the order from then on. */
  expiresAtMs: number;
  /** The bytes can no longer be executed then: no other order over them would live longer. */
  endsWithBytes?: true;
  /** As in HeldTransfer, of one whose time begins with its signing. */
  timeLeftMs?: number;
}

/** From `begun` on the attempt counts as signed. */
export type BeginSigningResult =
  | ({ outcome: 'begun' } & OrderedAttempt)
  /** The attempt was signed before (a retry after a crash): continue with its bytes. */
  | { outcome: 'signed'; attempt: number; kind: AttemptKind }
  /** The caller does not know the newest attempt, which this is. Nothing was begun. */
  | { outcome: 'stale'; attempt: number; kind: AttemptKind }
  /** Cancelled or ended in the meantime. */
  | { outcome: 'ended'; status: string }
  /** The current rules require an approval first. */
  | { outcome: 'needs_approval' }
  /** What the attempt would spend is not spendable yet. `isBehind`: an earlier transaction of its sender waits for an operator. */
  | { outcome: 'wait'; reason: string; isBehind?: true }
  /**
   * `byRule`: by what `screenTransfer` refuses too: rules, limits and lists. `isExecuted`: a block holds an earlier attempt, which is to
   * be confirmed. `isFollowed`: the chain has to show first what becomes of the earlier attempts.
   */
  | { outcome: 'refused'; code: FailureCode; reason: string; byRule?: true; isExecuted?: true; isFollowed?: true };

/**
 * A request to the authoriser, which numbers the attempts itself. `resume`: another order over the bytes of the newest attempt.
 */
export type BeginSigning = {
  txId: string;
  /** Number of the newest attempt that the caller knows; 0 before the first. */
  lastAttempt: number;
} & ({ kind: AttemptKind; prepared: Prepared } | { kind: 'resume' });

/** An attempt that is to be made. */
export interface NextAttempt {
  txId: string;
  /** 1 for the first attempt, then consecutive. */
  attempt: number;
  kind: AttemptKind;
}

/** What a signing node has answered in place of a signature. */
export interface NodeProblem {
  node: NodeIndex;
  code: FailureCode;
  reason: string;
}

/** What two nodes have signed of an attempt. */
export interface AttemptSignatures {
  /** One per signing payload, in their order. */
  signatures: Hex[];
  /** By others, before this pair has signed; for the audit log. */
  problems?: NodeProblem[];
}

export interface SignedAttempt extends AttemptSignatures {
  txId: string;
  attempt: number;
}

/** `signed`: stored first, where no earlier call has; absent for what is sent again. */
export interface Broadcast {
  txId: string;
  attempt: number;
  signed?: AttemptSignatures;
}

export type BroadcastResult =
  /** `status`: of the transfer, SUBMITTED unless it has ended. */
  | { outcome: 'accepted'; hash: string; status: string }
  /**
   * Not accepted as long as what it depends on is in no block; it is sent again. `passing`: soon, and `price`: a higher one would help too;
   * `unknown`: for some minutes, since nobody knows what the nodes mean.
   */
  | { outcome: 'waiting'; reason: string; passing?: 'price' | 'view' | 'unknown' }
  /** `isUnknown`: nobody knows what the nodes mean, and they may take it later. */
  | { outcome: 'rejected'; reason: string; isUnknown?: true }
  /** Not sent: the destination was blacklisted after signing had begun. */
  | { outcome: 'blacklisted' }
  /** Not sent: the transfer is abandoned, only its cancellation is sent. */
  | { outcome: 'withheld' }
  /** Not sent: the attempt was begun and never signed. */
  | { outcome: 'unsigned'; kind: AttemptKind };

/** The state of a transfer on the chain; signalled by the follower, or requested by the workflow's poll timer. */
export interface ChainObservation {
  /**
   * `confirmed`: included deep enough to end the transfer, which is finality for what was reverted or cancelled.
   * `impossible`: every attempt has a stored proof that the chain will never execute it.
   */
  state: 'absent' | 'pending' | 'included' | 'confirmed' | 'impossible';
  /** Transaction id on the chain. */
  hash: string | null;
  blockNumber: number | null;
  confirmations: number;
  /** `absent`: a reorganisation has removed what it spends, which may come back. */
  isUnfunded?: true;
  /** `absent`, `pending`: an earlier transaction of its sender is not executed yet, and a higher fee would not help this one. */
  isBehind?: true;
  /** `impossible`: nothing else that was signed for it can be executed either, so that no operator has to look at it. */
  ends?: true;
}

export interface SettleResult {
  /** WAITING: a reorganisation has removed the inclusion, or it is not deep enough yet to end the transfer. */
  status: 'CONFIRMED' | 'FAILED' | 'NEEDS_ATTENTION' | 'WAITING';
  code: FailureCode | null;
  reason: string | null;
}

/** `ended`: it has ended outside of this run and is not parked. */
export interface ParkResult {
  outcome: 'parked' | 'ended';
  /** As in HeldTransfer: it may end earlier than was known before. */
  timeLeftMs?: number;
}

/** `behind`: an earlier transaction of its sender waits for an operator. */
export interface TurnResult {
  outcome: 'free' | 'behind';
}

/** The end of a transfer. */
export interface TransferEnd {
  status: string;
  code: FailureCode | null;
  reason: string | null;
}

/** Why a transfer that was reopened has no cancellation yet. */
export interface NotCancelled {
  txId: string;
  chain: string;
  code: FailureCode;
  reason: string;
}

/** What is to be done about coins that a payer lacks: they are given, or none are missing. */
export type FundingResult = { outcome: 'funded' } | { outcome: 'refused'; code: FailureCode; reason: string };

/** Of the approval that a payer has signed; `waiting`: call again. */
export type ApprovalResult =
  { outcome: 'executed' } | { outcome: 'waiting'; reason: string } | { outcome: 'refused'; code: FailureCode; reason: string };

/** Short database steps; run as local activities by the main worker. All are idempotent on txId. */
export interface TransferActivities {
  /** Reads what was accepted: the held funds, or the end of the transfer. */
  adoptHold(input: { txId: string }): Promise<AdoptedHold>;
  /** The same of a FAILED transfer whose final block is gone and whose nonce a cancellation is to use up now; the end of every other. */
  adoptReopened(input: { txId: string }): Promise<AdoptedHold>;
  /** Tells operators why no cancellation of such a transfer was sent. */
  reportNotCancelled(input: NotCancelled): Promise<void>;
  /** Applies every screening rule; begins and ends the wait for an approval. */
  screenTransfer(input: { txId: string }): Promise<ScreeningVerdict>;
  /** Unlocks everything and ends the transfer as the refusal on record says; refuses without one, and once signing has begun. */
  endTransfer(input: { txId: string }): Promise<TransferEnd>;
  /** Whether the destination is on the client's blacklist now. */
  destinationBlacklisted(input: { txId: string }): Promise<boolean>;
  /** Records that a transfer whose attempts expire is abandoned: from then on nothing is signed or sent for it. */
  abandonTransfer(input: { txId: string }): Promise<void>;
  /** Posts amount and real fee and unlocks the rest, or refunds. Reads the observed effect from the attempts. */
  settleTransfer(input: { txId: string }): Promise<SettleResult>;
  /** FAILED and unlocked: every attempt has a proof that the chain will never execute it, and no other one is to be begun. */
  failByProof(input: { txId: string }): Promise<TransferEnd>;
  /** Parks the transfer in NEEDS_ATTENTION for an operator. */
  parkTransfer(input: { txId: string; code: FailureCode; reason: string }): Promise<ParkResult>;
  /** Whether an earlier transaction of its sender keeps the transfer from beginning to be signed. */
  readTurn(input: { txId: string }): Promise<TurnResult>;
  /** Writes the audit row of an act, unless it was written with the act's id before. */
  recordOperatorAct(input: OperatorAct): Promise<void>;
  /** Makes the transaction that gives a payer the coins for its approval, once. */
  fundPayer(input: { txId: string }): Promise<FundingResult>;
}

/** Steps that call a chain; run on the task queue of that chain. */
export interface ChainActivities {
  /** Facts for an attempt; for an attempt that has begun, the facts it began with. */
  prepareAttempt(input: NextAttempt): Promise<Prepared>;
  /**
   * Stores the signatures, sends the attempt ("already known" is success), and makes the transfer SUBMITTED: each is committed before the
   * next. Fails with invalid_signature when they are not of the attempt's signers.
   */
  broadcast(input: Broadcast): Promise<BroadcastResult>;
  /**
   * Asks the chain directly, for the workflow's poll timer; broadcasts transactions again that the chain has dropped. `isAnew`: stored proofs do
   * not count, only what every configured endpoint shows now, and nothing is broadcast.
   */
  observe(input: { txId: string; isAnew?: true }): Promise<ChainObservation>;
  /** Sends the approval of a payer once that has the coins for it, and asks what became of it. */
  sendApproval(input: { txId: string }): Promise<ApprovalResult>;
}
