import { findForeignSpends } from './foreign-spends';
import { foreignSpends } from './metrics';
import type { FollowOptions } from './ports';

const reportEveryMs = 5 * 60_000;

/** Reports outputs that somebody else has spent: a metric, and an alert in the log, repeated until the spending block is final. */
export class SpendWatch {
  /** When each was reported last, ms of the clock. */
  private readonly reported = new Map<string, number>();

  constructor(private readonly options: Pick<FollowOptions, 'chain' | 'database' | 'logger'>) {}

  /** Whoever follows the chain from now on reports them. */
  end(): void {
    foreignSpends.remove({ chain: this.options.chain.name });
  }

  async report(nextBlock: number): Promise<void> {
    const { chain, database, logger } = this.options;
    const now = Date.now();
    const spends = await findForeignSpends(database.manager, chain.name, nextBlock - chain.finalityDepth);
    foreignSpends.set({ chain: chain.name }, spends.length);
    const keys = new Set(spends.map(({ transaction, owner }) => `${transaction} ${owner}`));
    for (const key of this.reported.keys()) if (!keys.has(key)) this.reported.delete(key);
    for (const { transaction, owner, amount } of spends) {
      const key = `${transaction} ${owner}`;
      if (now - (this.reported.get(key) ?? 0) < reportEveryMs) continue;
      this.reported.set(key, now);
      logger.error(
        { alert: 'outputs_spent_elsewhere', chain: chain.name, transaction, owner, amount: amount.toString() },
        'a transaction that is not of the gateway has spent outputs of one of its accounts: its ledger account is frozen',
      );
    }
  }
}
