import type { ScanResult } from '../chains/chain-client';
import { findFault } from '../chains/endpoints';
import type { FollowOptions } from './ports';

/** Tells operators of payments that scans do not find: an alarm where the chain requires them, which waits, else a line in the log. */
export class TraceWatch {
  private isTold = false;

  constructor(private readonly options: Pick<FollowOptions, 'chain' | 'chainAlarms' | 'logger'>) {}

  /** @throws what the scan throws. */
  async watch(scan: () => Promise<ScanResult>): Promise<ScanResult> {
    const { chain, chainAlarms, logger } = this.options;
    try {
      const found = await scan();
      chainAlarms.clear(chain.name, 'traces_missing');
      if (found.isUntraced && !this.isTold)
        logger.warn({ chain: chain.name }, 'the endpoint does not trace: deposits that contracts pass on are not found');
      this.isTold ||= found.isUntraced === true;
      return found;
    } catch (error) {
      const fault = findFault(error);
      if (fault) chainAlarms.raise(chain.name, fault.alert, `${fault.message}: no block is scanned`);
      throw error;
    }
  }
}
