import { findFault } from '../chains/endpoints';
import type { FeeLevels } from '../chains/types';
import * as store from './store';
import type { FollowOptions } from './ports';

/** Fee levels are read again after this long without a block: accepting transfers takes none that are older than 10 minutes. */
const levelsMaxAgeMs = 2 * 60_000;

/** The head of the chain, as a node reports it, and the fee levels there. */
export class Head {
  private levelsOfHead = -1;
  private levelsAt = -Infinity;
  /** As it was read last; null before. */
  last: number | null = null;

  constructor(private readonly options: Pick<FollowOptions, 'chain' | 'client' | 'database' | 'chainAlarms'>) {}

  /** Number of the newest block. Once a block the fees are read too, and stored with it; the first time the cursor is created. */
  async read(): Promise<number> {
    const { client } = this.options;
    const { number: head } = await client.head();
    this.last = head;
    if (head !== this.levelsOfHead || performance.now() - this.levelsAt > levelsMaxAgeMs) {
      await this.storeLevels(head);
      this.levelsOfHead = head;
      this.levelsAt = performance.now();
    }
    return head;
  }

  /** The chain was reorganised: there is another block of the same number. */
  forget(): void {
    this.levelsOfHead = -1;
  }

  private async storeLevels(head: number): Promise<void> {
    const { chain, client, database } = this.options;
    const isFirst = (await store.findCursor(database.manager, chain)) === null;
    const levels = await this.readLevels(isFirst);
    if (!levels) {
      await store.storeHeadWithoutLevels(database.manager, chain.name, head);
    } else if (isFirst) {
      // Nobody can have been paid before the first start; a local chain is short, and its faucet may have been earlier.
      const first = chain.network === 'local' ? ((await client.firstBlock?.()) ?? 0) : head;
      await store.createCursor(database.manager, chain, first, head, levels);
    } else {
      await store.storeHead(database.manager, chain.name, head, levels);
    }
  }

  /**
   * null: no endpoint says what can be believed. Blocks are followed all the same; transfers are accepted as long as the stored levels are not
   * too old, and none is begun.
   */
  private async readLevels(isFirst: boolean): Promise<FeeLevels | null> {
    const { chain, client, chainAlarms } = this.options;
    try {
      const levels = await client.feeLevels();
      chainAlarms.clear(chain.name, 'fees_not_believed');
      return levels;
    } catch (error) {
      const fault = findFault(error);
      if (!fault) throw error;
      chainAlarms.raise(chain.name, fault.alert, fault.message);
      if (isFirst) throw error;
      return null;
    }
  }
}
