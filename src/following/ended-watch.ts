import { type Contradiction, findContradictedEnds, findExecutedAfterProof } from './contradicted-ends';
import type { AlertName } from '../platform/alert-names';
import type { FollowOptions } from './ports';

const reportEveryMs = 5 * 60_000;
/** All ends that are not final are read again after this long, for what another process has taken back or corrected. */
const readAllEveryMs = 60_000;

const alerts: Record<Contradiction, { alert: AlertName; message: string }> = {
  block_gone: {
    alert: 'ended_transfer_reorganised',
    message: 'a transfer that had ended was reorganised away before finality',
  },
  charged_otherwise: {
    alert: 'settler_charged_otherwise',
    message: 'a settler has not paid what the block of its settlement shows',
  },
  executed_after_proof: {
    alert: 'impossible_attempt_executed',
    message: 'an attempt was executed after it had been proven impossible and its transfer had ended',
  },
};

interface Reported {
  /** Ms of the clock. */
  at: number;
  /** A block that had not been read again by then: once it is, there is something to be done, which does not wait. */
  failedIn: number | null;
}

/** Reports ended transfers that the chain contradicts: an alert in the log and a notification, repeated until it is corrected. */
export class EndedWatch {
  private readonly reported = new Map<string, Reported>();
  /** Blocks were taken back: all ends that are not final are read at the next call. */
  isDue = true;
  private allReadAt = 0;

  constructor(private readonly options: Pick<FollowOptions, 'chain' | 'database' | 'logger' | 'onConfirmedReorged'>) {}

  /** `nextBlock`: the first one that is not read. */
  async report(nextBlock: number): Promise<void> {
    const now = Date.now();
    const { database, chain } = this.options;
    const isReadAgain = ({ failedIn }: Reported) => failedIn !== null && failedIn < nextBlock;
    const readsAll = this.isDue || now - this.allReadAt >= readAllEveryMs || [...this.reported.values()].some(isReadAgain);
    const contradicted = await (readsAll ? findContradictedEnds : findExecutedAfterProof)(database.manager, chain.name);
    if (readsAll) {
      this.isDue = false;
      this.allReadAt = now;
      for (const txId of this.reported.keys()) if (!contradicted.has(txId)) this.reported.delete(txId);
    }
    for (const [txId, { contradiction, failedIn }] of contradicted) {
      const last = this.reported.get(txId);
      if (last && !isReadAgain(last) && now - last.at < reportEveryMs) continue;
      this.reported.set(txId, { at: now, failedIn: failedIn !== null && failedIn >= nextBlock ? failedIn : null });
      await this.notify(txId, contradiction);
    }
  }

  private async notify(txId: string, contradiction: Contradiction): Promise<void> {
    const { logger, chain, onConfirmedReorged } = this.options;
    const log = logger.child({ chain: chain.name, tx_id: txId });
    const { alert, message } = alerts[contradiction];
    log.error({ alert }, message);
    await onConfirmedReorged(txId).catch((error: unknown) => log.error({ err: error }, 'its correction could not be started'));
  }
}
