import type { IsOurs, ScanResult } from '../../chain-client';
import { findFault } from '../../endpoints';
import { endingScan } from '../../scan-look-up';
import type { ChainDefinition } from '../../types';
import type { Endpoints } from '../rpc';
import { askAgainMs, lacksTraces } from './internal';
import { scanBlocks } from './scan';

/**
 * Scans blocks at endpoints that trace. Where the chain does not require traces and every endpoint has said that it has none, blocks are scanned
 * without, for ten minutes until all are asked again; while one that may trace does not answer, or answers anything else, it is waited for.
 */
export class Scanner {
  /** What is known of the endpoints that have been asked. */
  private readonly known = new Set<ReadonlyMap<string, unknown>>();
  /** Ms of the clock. */
  private untracedUntil = 0;

  constructor(
    private readonly chain: ChainDefinition,
    private readonly endpoints: Endpoints,
  ) {}

  /** @throws GatewayError as scanBlocks; chain_unavailable, with an EndpointFault as its cause where an endpoint has no traces. */
  async scan(range: { from: number; to: number }, isOurs: IsOurs): Promise<ScanResult> {
    const { chain } = this;
    if (chain.requiresTraces || Date.now() < this.untracedUntil) return this.scanAs(chain, range, isOurs);
    try {
      return await this.scanAs({ ...chain, requiresTraces: true }, range, isOurs);
    } catch (error) {
      const haveAllDenied = this.known.size === this.endpoints.size && [...this.known].every(lacksTraces);
      if (!findFault(error) || !haveAllDenied) throw error;
      this.untracedUntil = Date.now() + askAgainMs;
      return this.scanAs(chain, range, isOurs);
    }
  }

  private scanAs(chain: ChainDefinition, range: { from: number; to: number }, isOurs: IsOurs): Promise<ScanResult> {
    return this.endpoints.run((call, capabilities) => {
      this.known.add(capabilities);
      return scanBlocks(call, chain, range, endingScan(isOurs), capabilities);
    });
  }
}
