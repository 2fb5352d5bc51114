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
  /** null: it has not been answered for. */
  observation: ChainObservation | null;
}

/**
 * What was reverted, cancelled, or executed without the effect that was asked for ends as FAILED for good. What it did was read near the head
 * and from one endpoint, which may have shown a receipt without its logs: when it is final the chain is asked once more, and every endpoint
 * has to show the same. The answer is stored with the attempt: what is agreed there is not asked about again. So is what was executed on a false
 * proof of impossibility, until nothing else of its transaction can be executed.
 */
export class FailureWatch {
  /** By inclusion. */
  private readonly asked = new Map<string, Said>();

  constructor(private readonly options: Pick<FollowOptions, 'observe' | 'logger'>) {}

  /** What the chain has said in place of what was stored; without what it has not answered for yet. */
  correct(observations: ReadonlyMap<string, ChainObservation>, unagreed: readonly string[]): Map<string, ChainObservation> {
    const corrected = new Map(observations);
    for (const txId of unagreed) {
      const said = this.asked.get(toKey(txId, observations.get(txId)))?.observation;
      if (said) corrected.set(txId, said);
      else corrected.delete(txId);
    }
    return corrected;
  }

  /** Asks the chain about what is due; `correct` shows the answers. Never throws. */
  async ask(observations: ReadonlyMap<string, ChainObservation>, unagreed: readonly string[]): Promise<void> {
    const now = Date.now();
    const inclusions = unagreed.map((txId) => ({ txId, inclusion: toKey(txId, observations.get(txId)) }));
    const due = inclusions
      .filter(({ inclusion }) => now - (this.asked.get(inclusion)?.at ?? 0) >= againAfterMs)
      .slice(0, perStep);
    // no later call asks while these answers are on their way
    for (const { inclusion } of due) this.note(inclusion, this.asked.get(inclusion)?.observation ?? null);
    await mapBounded(due, perStep, async ({ txId, inclusion }) => this.note(inclusion, await this.observe(txId)));
  }

  private note(inclusion: string, observation: ChainObservation | null): void {
    setBounded(this.asked, inclusion, { at: Date.now(), observation }, maxAsked);
  }

  private observe(txId: string): Promise<ChainObservation | null> {
    return this.options.observe(txId).catch((err: unknown) => {
      this.options.logger.warn({ err, tx_id: txId }, 'what ends a transaction as failed could not be read again');
      return null;
    });
  }
}

const toKey = (txId: string, observation: ChainObservation | undefined): string =>
  `${txId} ${observation?.hash} ${observation?.blockNumber}`;
