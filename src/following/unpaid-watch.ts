import type { ChainObservation } from '../messages/transfer';
import { setBounded } from '../platform/bounded';
import type { FollowOptions } from './ports';

/** Inclusions that are remembered. */
const maxRead = 10_000;

/**
 * What was executed without the effect that was asked for (a settlement that has not paid, a transfer of which nothing has moved) ends for
 * good. What it did was read near the head and from one endpoint, which may have shown a receipt without its logs: when it is final the
 * chain is asked once more, and what that shows is stored.
 */
export class UnpaidWatch {
  /** What the chain has said, by inclusion. */
  private readonly read = new Map<string, ChainObservation>();

  constructor(private readonly options: Pick<FollowOptions, 'observe' | 'logger'>) {}

  /** Puts what the chain says now in place of what was stored; leaves out what it does not answer for, until the next call. */
  async readAgain(observations: Map<string, ChainObservation>, unpaid: readonly string[]): Promise<void> {
    for (const txId of unpaid) {
      const stored = observations.get(txId);
      const said = stored && (await this.ask(txId, stored));
      if (said) observations.set(txId, said);
      else observations.delete(txId);
    }
  }

  private async ask(txId: string, { hash, blockNumber }: ChainObservation): Promise<ChainObservation | null> {
    const inclusion = `${txId} ${hash} ${blockNumber}`;
    const known = this.read.get(inclusion);
    if (known) return known;
    try {
      const said = await this.options.observe(txId);
      setBounded(this.read, inclusion, said, maxRead);
      return said;
    } catch (err) {
      this.options.logger.warn({ err, tx_id: txId }, 'what was executed without its effect could not be read again');
      return null;
    }
  }
}
