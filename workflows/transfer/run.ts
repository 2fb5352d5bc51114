import { ApplicationFailure, condition, setHandler, workflowInfo } from '@temporalio/workflow';
import {
  type ChainObservation,
  type LockedTransfer,
  type TransferWorkflowInput,
  abandonUpdate,
  chainObservedSignal,
  retryUpdate,
  transferApprovedSignal,
  transferEndedSignal,
} from '../../src/messages/transfer';
import type { FailureCode } from '../../src/platform/codes';
import { Live } from '../progress';
import { transferActivities } from '../activities';

export interface End {
  status: string;
  code: FailureCode | null;
  reason: string | null;
}

/** What one run remembers between its steps, and its handlers. */
export class TransferRun {
  readonly txId: string;
  readonly live: Live;
  /** Newest attempt whose signing was begun; all attempts share one nonce. */
  attempt: number;
  /** An attempt has been handed to the chain: from here on it is watched. */
  submitted: boolean;
  ended: End | undefined;
  wantsFreshHistory = false;
  /** Set by the retry update, cleared by whoever acts on it. */
  retryRequested = false;
  /** Set by the release update and by a burn, cleared by whoever acts on it. */
  releaseRequested = false;
  private readonly observations: ChainObservation[] = [];
  private observed = 0;
  private approved = false;
  /** Waits for an operator who may also release the nonce. */
  private releasable = false;
  private lock: LockedTransfer | undefined;

  constructor(input: TransferWorkflowInput) {
    this.txId = input.txId;
    this.attempt = input.continued?.attempt ?? 0;
    this.submitted = input.continued?.submitted ?? false;
    this.live = new Live(`Transfer ${input.txId}`);
    this.live.at('locking');
    this.handleMessages();
  }

  get transfer(): LockedTransfer {
    if (!this.lock) throw new Error('not locked yet');
    return this.lock;
  }

  /** Adopts what accepting the transfer has locked. */
  async locked(): Promise<void> {
    this.lock = await transferActivities.adoptHold({ txId: this.txId });
    const { status } = this.lock;
    if (['CONFIRMED', 'REJECTED', 'FAILED', 'CANCELLED'].includes(status)) this.end({ status, code: null, reason: null });
  }

  /** Ends the run's own view; the row was ended by the step that called this. */
  end(end: End): void {
    this.ended = end;
    this.live.at('ended', [end.status, end.code, end.reason].filter(Boolean).join(' · '));
    this.live.status(end.status, end.code);
  }

  /** The follower's next message, or undefined when none came within the wait or an operator asked for a retry. */
  async nextObservation(waitMs: number): Promise<ChainObservation | undefined> {
    await condition(() => this.observations.length > 0 || this.retryRequested || this.ended !== undefined, waitMs);
    // only the newest matters: each tells the whole state
    const newest = this.observations.at(-1);
    this.observations.length = 0;
    return newest;
  }

  /** Waits until somebody is said to have approved the transfer, it has ended, or the time is over. */
  async approval(waitMs: number): Promise<void> {
    await condition(() => this.approved || this.ended !== undefined, waitMs);
    this.approved = false;
  }

  /** The chain has executed one of the attempts, by news not yet acted on. */
  get sawInclusion(): boolean {
    return this.observations.some(({ state }) => state === 'included' || state === 'confirmed');
  }

  /**
   * Waits for what an operator or the chain does about a parked transfer; of news that came before, only an inclusion counts.
   * `releasable`: its nonce is not known to be used up.
   */
  async attention({ releasable }: { releasable: boolean }): Promise<void> {
    const before = this.observed;
    this.releasable = releasable;
    await condition(
      () =>
        this.retryRequested || this.releaseRequested || this.sawInclusion || this.observed > before || this.ended !== undefined,
    );
    this.releasable = false;
  }

  get historyIsLong(): boolean {
    return workflowInfo().continueAsNewSuggested;
  }

  continuation(): TransferWorkflowInput {
    return {
      txId: this.txId,
      continued: { attempt: this.attempt, submitted: this.submitted },
    };
  }

  private handleMessages(): void {
    setHandler(transferEndedSignal, async () => {
      const { status } = await transferActivities.adoptHold({ txId: this.txId });
      if (!this.ended) this.end({ status, code: null, reason: null });
    });
    setHandler(transferApprovedSignal, () => {
      this.approved = true;
    });
    setHandler(retryUpdate, () => {
      this.retryRequested = true;
      return { status: 'retrying' };
    });
    setHandler(abandonUpdate, () => this.release());
    setHandler(chainObservedSignal, (observation) => {
      this.observations.push(observation);
      this.observed += 1;
      if (this.observations.length > 50) this.observations.shift();
    });
  }

  private release(): { status: string } {
    if (!this.releasable || this.attempt === 0 || this.sawInclusion || this.ended) {
      throw ApplicationFailure.create({
        type: 'business_error' satisfies FailureCode,
        nonRetryable: true,
        message: 'Only a transfer that is parked after its signing has begun, and whose nonce is not used up, can be released',
      });
    }
    this.releaseRequested = true;
    return { status: 'releasing' };
  }
}
