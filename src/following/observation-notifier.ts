import type { ChainObservation } from '../messages/transfer';
import type { Logger } from '../platform/logging';
import type { SignalTransfer } from './ports';

const concurrency = 20;
/** A transfer whose workflow is gone is asked for rarely: an operator may have started it again. */
const goneFactor = 10;
/** Largest factor on the time between two signals without consequence, as of a parked transfer: every signal stays in a history. */
const longestFactor = 120;

/**
 * Sends observations until they have had their consequence: at once when they change, then again after `resignalMs`, with twice the
 * time between any two signals as long as the transfer waits. Kept in memory only: after a restart everything is sent once more, which has
 * no effect on a transfer that knows it.
 */
export class ObservationNotifier {
  private readonly sent = new Map<string, { observationKey: string; at: number; times: number; gone: boolean }>();
  private failing = false;

  constructor(
    private readonly signalTransfer: SignalTransfer,
    private readonly logger: Logger,
    private readonly resignalMs: number,
  ) {}

  /** `observations`: of all transactions that wait now; others are forgotten. Never throws: what failed is sent at the next call. */
  async sendAll(observations: ReadonlyMap<string, ChainObservation>): Promise<void> {
    for (const txId of this.sent.keys()) {
      if (!observations.has(txId)) this.sent.delete(txId);
    }
    const due = [...observations].filter(([txId, observation]) => this.isDue(txId, observation));
    for (let start = 0; start < due.length; start += concurrency) {
      await Promise.all(due.slice(start, start + concurrency).map(([txId, observation]) => this.send(txId, observation)));
    }
  }

  /** Sends it even if it was sent before: an observation was taken back, which the workflow has to be told in any case. */
  async sendOnce(txId: string, observation: ChainObservation): Promise<void> {
    this.sent.delete(txId);
    await this.send(txId, observation);
    this.sent.delete(txId);
  }

  private isDue(txId: string, observation: ChainObservation): boolean {
    const last = this.sent.get(txId);
    if (!last || last.observationKey !== toKey(observation)) return true;
    const factor = Math.min(2 ** (last.times - 1), longestFactor);
    return Date.now() - last.at >= this.resignalMs * (last.gone ? Math.max(factor, goneFactor) : factor);
  }

  private async send(txId: string, observation: ChainObservation): Promise<void> {
    try {
      const outcome = await this.signalTransfer(txId, observation);
      const before = this.sent.get(txId);
      if (outcome === 'gone' && !before?.gone)
        this.logger.warn({ tx_id: txId, state: observation.state }, 'no workflow waits for this transfer: observation skipped');
      const times = before?.observationKey === toKey(observation) ? before.times + 1 : 1;
      this.sent.set(txId, { observationKey: toKey(observation), at: Date.now(), times, gone: outcome === 'gone' });
      if (this.failing) this.logger.info('workflows can be signalled again');
      this.failing = false;
    } catch (error) {
      if (!this.failing)
        this.logger.warn({ err: error, tx_id: txId }, 'workflows cannot be signalled: trying again at every poll');
      this.failing = true;
    }
  }
}

/** Depth alone is no change between inclusion and confirmation. */
const toKey = ({ state, hash, blockNumber }: ChainObservation): string => `${state} ${hash} ${blockNumber}`;
