import type { ChainObservation } from '../messages/transfer';
import { setBounded } from '../platform/bounded';
import { mapBounded } from '../platform/map-bounded';
import type { FollowOptions } from './ports';

/** Questions in one step of the follower, which has more to do; all at a time. */
const perStep = 50;
/** What was not agreed, or could not be asked about, is asked about again after this long. */
const againAfterMs = 60_000;
/** Inclusions that are remembered. */
const maxAsked = 10_000;

interface Said {
  /** ms of the clock. */
  at: number;
  /** null: it could not be asked about. */
  observation: ChainObservation | null;
}

/**
 * What was reverted, cancelled, or executed without the effect that was asked for ends as FAILED for good. What it did was read near the head
 * and from one endpoint, which may have shown a receipt without its logs: when it is final the chain is asked once more, and every endpoint
 * has to show the same. The answer is stored with the attempt: what is agreed there is not asked about again.
 */
export class FailureWatch {
  /** By inclusion. */
  private readonly asked = new Map<string, Said>();

  constructor(private readonly options: Pick<FollowOptions, 'observe' | 'logger'>) {}

  /** Puts what the chain says now in place of what was stored; leaves out what it does not answer for, until a later call. */
  async readAgain(observations: Map<string, ChainObservation>, unagreed: readonly string[]): Promise<void> {
    const now = Date.now();
    const due = unagreed.filter((txId) => now - (this.find(txId, observations)?.at ?? 0) >= againAfterMs);
    await mapBounded(due.slice(0, perStep), perStep, (txId) => this.ask(txId, observations));
    for (const txId of unagreed) {
      const said = this.find(txId, observations)?.observation;
      if (said) observations.set(txId, said);
      else observations.delete(txId);
    }
  }

  private find(txId: string, observations: Map<string, ChainObservation>): Said | undefined {
    return this.asked.get(toKey(txId, observations.get(txId)));
  }

  private async ask(txId: string, observations: Map<string, ChainObservation>): Promise<void> {
    const inclusion = toKey(txId, observations.get(txId));
    const observation = await this.options.observe(txId).catch((err: unknown) => {
      this.options.logger.warn({ err, tx_id: txId }, 'what ends a transaction as failed could not be read again');
      return null;
    });
    setBounded(this.asked, inclusion, { at: Date.now(), observation }, maxAsked);
  }
}

const toKey = (txId: string, observation: ChainObservation | undefined): string =>
  `${txId} ${observation?.hash} ${observation?.blockNumber}`;
