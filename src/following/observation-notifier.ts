import type { ChainObservation } from '../messages/transfer';
import { setBounded } from '../platform/bounded';
import type { Logger } from '../platform/logging';
import type { SignalTransfer, TransferNotifier } from './ports';

const concurrency = 20;
/** A transfer whose workflow is gone is asked for rarely: an operator may have started it again. */
const goneFactor = 10;
/** Largest factor on the time between two signals without consequence, as of a parked transfer: every signal stays in a history. */
const longestFactor = 120;

/** A workflow that is not told asks the chain by itself, later. */
const maxOwed = 10_000;

const defaultResignalMs = 30_000;
/** Longer than the time between two polls of any chain, and shorter than another process follows for at a time, which has told others. */
const forgetAfterMs = 9 * 60_000;

/**
 * Sends observations of one chain until they have had their consequence: at once when they change, then again after `resignalMs`, with
 * twice the time between any two signals as long as the transfer waits. Kept in memory only: after a restart everything is sent once more,
 * which has no effect on a transfer that knows it. One pass at a time, 20 signals at a time: first what was taken back, then what waits.
 * Its caller needs to wait for none of it. A pass ends where all 20 fail, which would take the others as long; what has failed is sent last
 * by the next one, so that transfers whose workflows take no signal hold up no others, however many they are.
 */
export class ObservationNotifier implements TransferNotifier {
  private readonly sent = new Map<string, { observationKey: string; at: number; times: number; gone: boolean }>();
  /** Taken back, and not told yet; what has failed stands last. */
  private readonly owed = new Map<string, ChainObservation>();
  /** Transactions that wait, of which the last signal failed. */
  private readonly failed = new Set<string>();
  private failing = false;
  /** The newest observations, while those of an earlier call are sent. */
  private next: ReadonlyMap<string, ChainObservation> | null = null;
  private sending: Promise<void> | null = null;
  private usedAt = Date.now();
  /** Something was taken back since the pass began: what it has not sent yet may be wrong by now. */
  private isStale = false;
  private isStopped = false;

  constructor(
    private readonly signalTransfer: SignalTransfer,
    private readonly logger: Logger,
    private readonly resignalMs = defaultResignalMs,
  ) {}

  /**
   * `observations`: of all transactions that wait now; others are forgotten. While earlier ones are sent, only the newest call waits:
   * the earlier ones are given up after the signals on their way. Never throws: what failed is sent at the next call.
   */
  sendAll(observations: ReadonlyMap<string, ChainObservation>): Promise<void> {
    this.next = observations;
    return this.begin();
  }

  /** Ends after the signals on their way; the rest is sent at the next call. */
  async giveUp(): Promise<void> {
    this.next = null;
    this.isStopped = true;
    await this.sending;
    this.isStopped = false;
  }

  /**
   * Sends them even if they were sent before, after the signals on their way and before anything else: an observation was taken back, which
   * the workflow has to be told in any case. What waited to be sent is given up: it was read before. What fails is sent with a later call of
   * `sendAll`, unless there is something newer to say. Never throws.
   */
  sendTakenBack(takenBack: Iterable<readonly [string, ChainObservation]>): Promise<void> {
    for (const [txId, observation] of takenBack) setBounded(this.owed, txId, observation, maxOwed);
    this.next = null;
    this.isStale = true;
    return this.begin();
  }

  private begin(): Promise<void> {
    this.sending ??= this.sendNext();
    return this.sending;
  }

  private async sendNext(): Promise<void> {
    try {
      do {
        this.isStale = false;
        const observations = this.next ?? new Map<string, ChainObservation>();
        if (this.next) this.forgetOthers(this.next);
        this.next = null;
        if (this.owed.size > 0) await this.sendOwed();
        await this.sendDue(observations);
      } while ((this.next || this.isStale) && !this.isStopped);
    } finally {
      this.sending = null;
    }
  }

  private forgetOthers(observations: ReadonlyMap<string, ChainObservation>): void {
    if (Date.now() - this.usedAt > forgetAfterMs) this.sent.clear();
    this.usedAt = Date.now();
    for (const txId of [...this.sent.keys(), ...this.failed]) {
      if (observations.has(txId)) continue;
      this.sent.delete(txId);
      this.failed.delete(txId);
    }
    // what a block holds again is news enough, also where it was told before
    for (const txId of observations.keys()) if (this.owed.delete(txId)) this.sent.delete(txId);
  }

  private async sendOwed(): Promise<void> {
    const owed = [...this.owed];
    for (let start = 0; start < owed.length && !this.isStopped; start += concurrency) {
      const chunk = owed.slice(start, start + concurrency);
      const sent = await Promise.all(chunk.map(([txId, observation]) => this.sendOne(txId, observation)));
      if (!sent.includes(true)) return;
    }
  }

  private async sendOne(txId: string, observation: ChainObservation): Promise<boolean> {
    this.sent.delete(txId);
    const isSent = await this.send(txId, observation);
    this.sent.delete(txId);
    if (this.owed.get(txId) !== observation) return isSent;
    this.owed.delete(txId);
    if (!isSent) this.owed.set(txId, observation);
    return isSent;
  }

  private async sendDue(observations: ReadonlyMap<string, ChainObservation>): Promise<void> {
    const isDue = [...observations].filter(([txId, observation]) => this.isDue(txId, observation));
    const due = [...isDue.filter(([txId]) => !this.failed.has(txId)), ...isDue.filter(([txId]) => this.failed.has(txId))];
    for (let start = 0; start < due.length; start += concurrency) {
      if (this.next || this.isStale || this.isStopped) return;
      const chunk = due.slice(start, start + concurrency);
      const sent = await Promise.all(chunk.map(([txId, observation]) => this.send(txId, observation)));
      if (!sent.includes(true)) return;
    }
  }

  private isDue(txId: string, observation: ChainObservation): boolean {
    const last = this.sent.get(txId);
    if (!last || last.observationKey !== toKey(observation)) return true;
    const factor = Math.min(2 ** (last.times - 1), longestFactor);
    return Date.now() - last.at >= this.resignalMs * (last.gone ? Math.max(factor, goneFactor) : factor);
  }

  /** False: Temporal does not answer. */
  private async send(txId: string, observation: ChainObservation): Promise<boolean> {
    try {
      const outcome = await this.signalTransfer(txId, observation);
      const before = this.sent.get(txId);
      if (outcome === 'gone' && !before?.gone)
        this.logger.warn({ tx_id: txId, state: observation.state }, 'no workflow waits for this transfer: observation skipped');
      const times = before?.observationKey === toKey(observation) ? before.times + 1 : 1;
      this.sent.set(txId, { observationKey: toKey(observation), at: Date.now(), times, gone: outcome === 'gone' });
      if (this.failing) this.logger.info('workflows can be signalled again');
      this.failing = false;
      this.failed.delete(txId);
      return true;
    } catch (error) {
      if (!this.failing)
        this.logger.warn({ err: error, tx_id: txId }, 'workflows cannot be signalled: trying again at every poll');
      this.failing = true;
      this.failed.add(txId);
      return false;
    }
  }
}

/** Depth alone is no change between inclusion and confirmation. */
const toKey = ({ state, hash, blockNumber }: ChainObservation): string => `${state} ${hash} ${blockNumber}`;
