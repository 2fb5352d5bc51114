import type { ScanResult } from '../chains/chain-client';
import { findFault } from '../chains/endpoints';
import type { FollowOptions } from './ports';

/** What one scan has left out is not looked for again: the alarm stays for so long after it, and is seen. */
const toldForMs = 10 * 60_000;

/** Tells operators of payments that scans do not find: where the chain requires them, it waits. */
export class TraceWatch {
  /** ms of the monotonic clock. */
  private untracedAt = -Infinity;

  constructor(
    private readonly options: Pick<FollowOptions, 'chain' | 'chainAlarms'>,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** @throws what the scan throws. */
  async watch(scan: () => Promise<ScanResult>): Promise<ScanResult> {
    const { chain, chainAlarms } = this.options;
    try {
      const found = await scan();
      chainAlarms.clear(chain.name, 'traces_missing');
      if (found.isUntraced) {
        this.untracedAt = this.now();
        const reason =
          'blocks are scanned at an endpoint that does not show calls by contracts: deposits that contracts pass on are not found';
        chainAlarms.raise(chain.name, 'deposits_untraced', reason);
      } else if (this.now() - this.untracedAt >= toldForMs) {
        chainAlarms.clear(chain.name, 'deposits_untraced');
      }
      return found;
    } catch (error) {
      const fault = findFault(error);
      if (fault) chainAlarms.raise(chain.name, fault.alert, `${fault.message}: no block is scanned`);
      throw error;
    }
  }
}
