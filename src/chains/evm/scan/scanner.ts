import type { IsOurs, ScanResult } from '../../chain-client';
import { findFault } from '../../endpoints';
import { endingScan } from '../../scan-look-up';
import type { ChainDefinition } from '../../types';
import type { Endpoints } from '../rpc';
import { askAgainMs, lacksTraces } from './internal';
import { scanBlocks } from './scan';

/** Ms for which an endpoint that may trace is waited for, while another one answers that has no traces: blocks are then scanned late, not never. */
const mayTraceMs = 10 * 60_000;
/** Ms after which it is asked again: blocks are scanned without traces as long as it does not answer, and no longer. */
const mayTraceAgainMs = 60_000;

/**
 * Scans blocks at endpoints that trace. Where the chain does not require traces and every endpoint has said that it has none, blocks are scanned
 * without, for ten minutes until all are asked again. One that may trace and does not answer, or answers anything else, is waited for, for ten
 * minutes of this process; then blocks are scanned without, and it is asked again each minute.
 */
export class Scanner {
  /** What is known of the endpoints that have been asked. */
  private readonly known = new Set<ReadonlyMap<string, unknown>>();
  /** Ms of the clock. */
  private untracedUntil = 0;
  /** Since when no endpoint has traced, while one has said that it has no traces; ms of the clock. */
  private deniedSince: number | null = null;

  constructor(
    private readonly chain: ChainDefinition,
    private readonly endpoints: Endpoints,
  ) {}

  /** @throws GatewayError as scanBlocks; chain_unavailable, with an EndpointFault as its cause where an endpoint has no traces. */
  async scan(range: { from: number; to: number }, isOurs: IsOurs): Promise<ScanResult> {
    const { chain } = this;
    if (chain.requiresTraces || Date.now() < this.untracedUntil) return this.scanAs(chain, range, isOurs);
    try {
      const found = await this.scanAs({ ...chain, requiresTraces: true }, range, isOurs);
      this.deniedSince = null;
      return found;
    } catch (error) {
      if (!findFault(error)) throw error;
      const now = Date.now();
      this.deniedSince ??= now;
      const haveAllDenied = this.known.size === this.endpoints.size && [...this.known].every(lacksTraces);
      if (!haveAllDenied && now - this.deniedSince < mayTraceMs) throw error;
      this.untracedUntil = now + (haveAllDenied ? askAgainMs : mayTraceAgainMs);
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
