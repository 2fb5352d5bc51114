import { findDoubtedOrdinals } from '../chains/reservations';
import { accountsUsedElsewhere } from './metrics';
import type { FollowOptions } from './ports';

const readEveryMs = 30_000;

/** Tells operators, as long as it lasts, of accounts for which nothing is begun, since the chain counts more transactions than the rows. */
export class DoubtWatch {
  private readAt = -Infinity;

  constructor(private readonly options: Pick<FollowOptions, 'chain' | 'database' | 'chainAlarms'>) {}

  async report(): Promise<void> {
    if (performance.now() - this.readAt < readEveryMs) return;
    const { chain, database, chainAlarms } = this.options;
    const doubted = await findDoubtedOrdinals(database.manager, chain.name);
    this.readAt = performance.now();
    accountsUsedElsewhere.set({ chain: chain.name }, doubted.length);
    if (doubted.length === 0) return chainAlarms.clear(chain.name, 'account_used_elsewhere');
    const accounts = doubted.map(({ accountId, reported, expected }) => `${accountId} (${reported} counted, ${expected} known)`);
    chainAlarms.raise(chain.name, 'account_used_elsewhere', `nothing is begun for ${accounts.join(', ')}`);
  }

  /** Whoever follows the chain from now on reports them. */
  end(): void {
    accountsUsedElsewhere.remove({ chain: this.options.chain.name });
  }
}
