import { ApplicationFailure, condition, patched, workflowInfo } from '@temporalio/workflow';
import type { ChainObservation, HeldTransfer, PossibleUpdates } from '../../src/messages/transfer';
import type { FailureCode } from '../../src/platform/codes';
import { WorkflowProgress } from '../progress';
import { PollBackoff } from './poll-backoff';
import { patienceMs } from './waits';

/** Observations kept: each contains the whole state, so only the newest matter. */
const keptObservations = 50;

/** The database's clock decides: a cancellation that is asked for too early is refused. */
const clockMarginMs = 1_000;

/** Wait of a parked transfer whose time is over until it is abandoned once more. */
const overAgainMs = 60_000;

/** Blocks that a transfer has from when it is the head of its sender's line. */
const blocksOfHead = 4;

/** Longest wait of a parked transfer that is abandoned by time until that time is read again: it may end earlier. */
const readAgainMs = 10_000;

/** After these, a run that waits goes on in another one: Temporal takes 2,000 of a run. */
const maxUpdates = 500;

/** State of one run across its stages, with the signals and updates it has received. */
export class TransferState {
  readonly progress: WorkflowProgress;
  readonly polls = new PollBackoff();
  /** Newest attempt whose signing was begun; 0 before. */
  lastAttempt = 0;
  /** Its status on the chain comes before anything else: after an interruption the run continues with `confirm`. */
  isFollowed = false;
  /** Abandoned: only cancellations are signed. */
  isAbandoned = false;
  /** Why no node has taken the newest attempt yet; `price`: a higher fee would help. */
  unsent: { reason: string; passing: 'price' | 'view' | 'unknown' } | null = null;
  /** The attempt of which operators know that no node takes it; 0: none. */
  toldAttempt = 0;
  /** What the chain has shown of the newest attempt last, in words; empty before. */
  shown = '';
  /** Start of the newest attempt's wait for inclusion. */
  waitingSince = 0;
  private held: HeldTransfer | undefined;
  /** Milliseconds since the epoch; infinite where it is not abandoned by time. */
  private deadline = Infinity;
  private readonly observations: ChainObservation[] = [];
  private observedCount = 0;
  /** When last seen, another one of the sender was to be executed first. */
  private wasBehind = false;
  private wasApproved = false;
  private wasEnded = false;
  private retryRequested = false;
  /** Accepted in this run. */
  private updates = 0;
  /** A stage that a retry has a meaning for runs. */
  private isRetryable = false;
  private abandonRequested = false;
  /** Parked in a way that allows `abandon`. */
  private isAbandonable = false;

  constructor(readonly txId: string) {
    this.progress = new WorkflowProgress();
  }

  /** @throws Error before the first stage has adopted the hold. */
  get transfer(): HeldTransfer {
    if (!this.held) throw new Error('the hold was not adopted yet');
    return this.held;
  }

  adopt(transfer: HeldTransfer): void {
    this.held = transfer;
    this.lastAttempt = transfer.lastAttempt;
    this.isFollowed = transfer.isFollowed;
    this.isAbandoned = transfer.isAbandoned;
    this.waitingSince = Date.now();
    this.polls.adopt(transfer.blockTimeMs, transfer.requiredConfirmations, transfer.headLag);
    this.limitTime(transfer.timeLeftMs ?? Infinity);
  }

  /** It is abandoned by time from now on. */
  limitTime(leftMs: number): void {
    this.deadline = Date.now() + clockMarginMs + leftMs;
  }

  /** It may be abandoned earlier than was known; what is over already stays so. */
  shortenTime(leftMs: number): void {
    this.deadline = Math.min(this.deadline, Date.now() + clockMarginMs + leftMs);
  }

  /** It is abandoned by time. */
  get isTimed(): boolean {
    return this.deadline !== Infinity;
  }

  /** Its time is over: what was not executed is cancelled. */
  get isOver(): boolean {
    return Date.now() >= this.deadline && !this.isAbandoned;
  }

  /** Milliseconds until its time is over; infinite where it has none, or where it is over and the chain is only followed. */
  get timeLeftMs(): number {
    const leftMs = this.deadline - Date.now();
    return leftMs > 0 ? leftMs : Infinity;
  }

  /** Milliseconds in no block until something is done about it. */
  get patienceMs(): number {
    const refused = this.unsent?.passing;
    const isShorter = refused !== 'view' || patched('refused-until-parked');
    const isTold = this.toldAttempt > 0 && this.toldAttempt === this.lastAttempt;
    return patienceMs(this.transfer.stuckAfterMs, isShorter ? refused : undefined, isTold);
  }

  /**
   * While the chain executes another one of the sender first, what waits behind it is not stuck. Once that is executed, it gets the time of a
   * few blocks, since the same may be wrong with it.
   */
  followLine(isBehind: boolean): void {
    if (!isBehind && !this.wasBehind) return;
    this.wasBehind = isBehind;
    if (!isBehind) this.polls.reset();
    const { stuckAfterMs, blockTimeMs } = this.transfer;
    this.waitingSince = Math.max(
      this.waitingSince,
      Date.now() - stuckAfterMs + Math.min(stuckAfterMs, blocksOfHead * blockTimeMs),
    );
  }

  /** The row was ended outside of this run. */
  get isEnded(): boolean {
    return this.wasEnded;
  }

  /** Called before the row is read: only later signals count. */
  forgetEnd(): void {
    this.wasEnded = false;
  }

  /** An observation that no stage has read yet shows that the chain has executed an attempt. */
  get sawInclusion(): boolean {
    return this.observations.some(({ state }) => state === 'included' || state === 'confirmed');
  }

  /** One shows that no attempt can be executed any more, whatever else was tried. */
  private get sawEnd(): boolean {
    return this.observations.some(({ ends }) => ends);
  }

  get shouldContinueAsNew(): boolean {
    const isLong = workflowInfo().continueAsNewSuggested || (this.updates >= maxUpdates && patched('continue-after-updates'));
    return isLong && !this.retryRequested && !this.abandonRequested && !this.sawInclusion;
  }

  onApproved(): void {
    this.wasApproved = true;
  }

  onEnded(): void {
    this.wasEnded = true;
  }

  onObserved(observation: ChainObservation): void {
    this.observations.push(observation);
    this.observedCount += 1;
    if (this.observations.length > keptObservations) this.observations.shift();
  }

  /** What the validators of the two updates would let pass now. */
  get possibleUpdates(): PossibleUpdates {
    return { retry: this.isRetryable, abandon: this.mayBeAbandoned };
  }

  /** @throws ApplicationFailure business_error: a retry is for what waits now, and does not answer a later wait. */
  assertRetryable(): void {
    if (!this.possibleUpdates.retry) throw refusal('Only a transfer that is parked, or that waits for the chain, can be retried');
  }

  // a replay asks no validator: what an earlier release has accepted and refused is refused again
  onRetry(): { status: string } {
    this.assertRetryable();
    this.updates += 1;
    this.retryRequested = true;
    return { status: 'retrying' };
  }

  private get mayBeAbandoned(): boolean {
    return this.isAbandonable && this.lastAttempt > 0 && !this.sawInclusion && !this.wasEnded;
  }

  /** @throws ApplicationFailure business_error. */
  assertAbandonable(): void {
    if (this.possibleUpdates.abandon) return;
    throw refusal(
      'Only a transfer that is parked after its signing has begun, and that the chain has not executed, can be abandoned',
    );
  }

  onAbandon(): { status: string } {
    this.assertAbandonable();
    this.updates += 1;
    this.abandonRequested = true;
    return { status: 'abandoning' };
  }

  /** Runs a stage during which an operator's retry is taken; one that it has not used ends with it. */
  async whileRetryable<T>(stage: () => Promise<T>): Promise<T> {
    this.isRetryable = true;
    try {
      return await stage();
    } finally {
      this.isRetryable = false;
      this.retryRequested = false;
    }
  }

  /**
   * The newest observation of the follower; undefined when none arrived in time, a retry was requested or the transfer was ended.
   */
  async nextObservation(waitMs: number): Promise<ChainObservation | undefined> {
    const isTold = () => this.observations.length > 0 || this.retryRequested || this.wasEnded;
    await condition(isTold, waitMs, { summary: 'then the chain is asked, unless its follower tells before' });
    this.retryRequested = false;
    const newest = this.observations.at(-1);
    this.observations.length = 0;
    return newest;
  }

  /** Waits for a signal that the transfer was approved or ended, or for the time-out. */
  async approval(waitMs: number): Promise<void> {
    await condition(() => this.wasApproved || this.wasEnded, waitMs, { summary: 'end of the wait for an approval' });
    this.wasApproved = false;
  }

  /**
   * Waits for an operator's action, the chain's decision or the end of its time. Of the observations received before, only a decision
   * counts: an inclusion, or that none can come any more.
   * `isAbandonable`: the chain is not known to have used up what the transfer spends.
   * `timedMs`: until it is retried by itself where it is abandoned by time. `untimedMs`: the same where it is not.
   * `continue`: the history has become long, and no operator waits; a new run decides from the rows. `again`: nothing has happened, and
   * the end of its time is to be read again.
   */
  async attention(
    isAbandonable: boolean,
    { timedMs = Infinity, untimedMs = Infinity }: { timedMs?: number; untimedMs?: number } = {},
  ): Promise<'retry' | 'abandon' | 'decided' | 'continue' | 'again'> {
    // before it waits: an operator may be the only one who ends the wait, and is answered in the run that is asked
    if (this.shouldContinueAsNew && patched('continue-before-parked')) return 'continue';
    const before = this.observedCount;
    this.isAbandonable = isAbandonable;
    const isDone = () =>
      this.retryRequested ||
      this.abandonRequested ||
      this.sawInclusion ||
      this.sawEnd ||
      this.observedCount > before ||
      this.wasEnded;
    const isTimed = this.isTimed && isAbandonable && !this.isAbandoned;
    // what was refused after its time was over is not tried again at once
    const timedWaitMs = this.timeLeftMs === Infinity ? overAgainMs : Math.min(this.timeLeftMs, timedMs, readAgainMs);
    const waitMs = isTimed ? timedWaitMs : untimedMs;
    const summary = isTimed
      ? 'then it is tried again, or abandoned once its time is over'
      : 'then it is tried again without an operator';
    const isInTime =
      waitMs === Infinity ? await condition(isDone).then(() => true) : await condition(isDone, waitMs, { summary });
    const isAbandoning = this.abandonRequested || (!isInTime && isTimed && this.isOver && this.lastAttempt > 0);
    const isAgain = !isInTime && isTimed && !this.isOver && timedMs > readAgainMs;
    // before the requests of operators are forgotten: they are answered in this run
    const decision = this.shouldContinueAsNew
      ? 'continue'
      : isAbandoning
        ? 'abandon'
        : this.sawInclusion || this.sawEnd
          ? 'decided'
          : isAgain
            ? 'again'
            : 'retry';
    this.isAbandonable = false;
    this.retryRequested = false;
    this.abandonRequested = false;
    return decision;
  }
}

function refusal(message: string): ApplicationFailure {
  return ApplicationFailure.create({ type: 'business_error' satisfies FailureCode, nonRetryable: true, message });
}
