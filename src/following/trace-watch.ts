import type { EntityManager } from 'typeorm';
import type { BlockRange, ScanResult } from '../chains/chain-client';
import { findFault } from '../chains/endpoints';
import type { FollowOptions } from './ports';
import { type Cursor, noteUntraced, untracedForMs } from './store';

/**
 * Tells operators of payments that scans do not find: where the chain requires them, it waits. What scans have left out is not looked for again:
 * the alarm stays until as much of the chain as `untracedForMs` has been scanned after it, so that it does not end while nobody follows the chain;
 * and for that time, so that it is seen where a follower catches up.
 */
export class TraceWatch {
  private readonly toldForBlocks: number;

  constructor(private readonly options: Pick<FollowOptions, 'chain' | 'chainAlarms'>) {
    this.toldForBlocks = Math.ceil(untracedForMs / options.chain.blockTimeMs);
  }

  /** @throws what the scan throws. */
  async watch(scan: () => Promise<ScanResult>): Promise<ScanResult> {
    const { chain, chainAlarms } = this.options;
    try {
      const found = await scan();
      chainAlarms.clear(chain.name, 'traces_missing');
      return found;
    } catch (error) {
      const fault = findFault(error);
      if (fault) chainAlarms.raise(chain.name, fault.alert, `${fault.message}: no block is scanned`);
      throw error;
    }
  }

  /** In the database transaction that stores these blocks: what they lack is told by whoever follows the chain next, too. */
  note(manager: EntityManager, untraced: BlockRange): Promise<void> {
    return noteUntraced(manager, this.options.chain.name, untraced, untraced.from - this.toldForBlocks);
  }

  report({ nextBlock, untraced }: Pick<Cursor, 'nextBlock' | 'untraced'>): void {
    const { chain, chainAlarms } = this.options;
    if (!untraced || (nextBlock > untraced.to + this.toldForBlocks && !untraced.isRecent))
      return chainAlarms.clear(chain.name, 'deposits_untraced');
    const reason =
      `of blocks ${untraced.from} to ${untraced.to} some or all were scanned at an endpoint that does not show calls by contracts, or is not seen to: ` +
      'deposits that contracts have passed on in them are not found';
    chainAlarms.raise(chain.name, 'deposits_untraced', reason);
  }
}
