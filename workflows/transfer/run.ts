import { ApplicationFailure, CancellationScope, condition, setHandler, workflowInfo } from '@temporalio/workflow';
import {
  type ChainObservation,
  type LockedTransfer,
  type RequestedBy,
  type TransferAccepted,
  type TransferRequest,
  type TransferWorkflowInput,
  abandonUpdate,
  cancelUpdate,
  chainObservedSignal,
  retryUpdate,
  submitUpdate,
  transferApprovedSignal,
} from '../../src/messages/transfer';
import type { FailureCode } from '../../src/platform/codes';
import { refusal } from '../failures';
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
  private readonly clientId: string;
  private readonly observations: ChainObservation[] = [];
  private observed = 0;
  private approved = false;
  /** Waits for an operator who may also release the nonce. */
  private releasable = false;
  private lock: LockedTransfer | undefined;

  constructor(input: TransferWorkflowInput) {
    this.txId = input.txId;
    this.clientId = input.clientId;
    this.lock = input.continued?.lock;
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

  /** Resolves once the funds are locked or the request was refused (then `ended` is set and nothing is locked). */
  async locked(): Promise<void> {
    await condition(() => this.lock !== undefined || this.ended !== undefined);
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
      clientId: this.clientId,
      continued: { lock: this.transfer, attempt: this.attempt, submitted: this.submitted },
    };
  }

  private handleMessages(): void {
    // the lock of a cancelled handler would be neither known nor denied
    setHandler(submitUpdate, (request) => CancellationScope.nonCancellable(() => this.submit(request)));
    setHandler(cancelUpdate, (by) => CancellationScope.nonCancellable(() => this.cancel(by)));
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

  private async submit(request: TransferRequest): Promise<TransferAccepted> {
    try {
      const lock = await transferActivities.lockTransfer(request);
      if (lock.txId === this.txId) this.lock ??= lock;
      // the idempotency key has paid before, under another tx_id: that is the answer, and this run has nothing to do
      else this.end({ status: 'REPLAYED', code: null, reason: `The idempotency key belongs to ${lock.txId}` });
      return { txId: lock.txId, status: lock.status };
    } catch (error) {
      const failure = refusal(error);
      if (!this.lock) this.end({ status: 'REFUSED', code: failure.type as FailureCode, reason: failure.message });
      throw failure;
    }
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

  private async cancel(by?: RequestedBy): Promise<{ status: string }> {
    await this.locked();
    try {
      const { status } = await transferActivities.cancelTransfer({ txId: this.txId, ...(by && { by }) });
      if (!this.ended) this.end({ status, code: null, reason: null });
      return { status };
    } catch (error) {
      throw refusal(error);
    }
  }
}
