import { setTimeout as delay } from 'node:timers/promises';
import type { PoolReader } from '../chains/chain-client';
import { inTransaction } from '../platform/database';
import type { FollowOptions } from './ports';

/** Transactions of a pool that are read at one poll; the others wait for the next. */
const maxRead = 500;
/** Deposits that are stored at one poll. */
const maxFound = 500;
/** Polls in a row that do not show a transaction, before a node is asked whether it is gone: nodes do not have the same pools. */
const missedPolls = 3;
/** Transactions about which a node is asked at one poll. */
const maxAsked = 50;
/** Part of the time between two blocks after which the pool is read again. */
const pollsPerBlock = 40;
const shortestPollMs = 500;

type WatchOptions = Pick<FollowOptions, 'chain' | 'database' | 'deposits' | 'logger'>;

/**
 * Shows deposits before a block holds them, where the chain's nodes show what waits for one. It writes no balance and stops nothing: a
 * pool that cannot be read is logged once and read again.
 */
export class PoolWatch {
  /** What was read and still waits. */
  private read = new Set<string>();
  /** Stored deposits that the pool does not show: for how many polls. */
  private missed = new Map<string, number>();
  private failing = false;

  constructor(
    private readonly pool: PoolReader,
    private readonly options: WatchOptions,
  ) {}

  /** Until the signal aborts or the time `end` has come; once at least. */
  async run(signal: AbortSignal, end: number): Promise<void> {
    const pollMs = Math.max(shortestPollMs, this.options.chain.blockTimeMs / pollsPerBlock);
    do {
      await this.tryStep();
      // ends early when the signal aborts
      await delay(pollMs, undefined, { signal }).catch(() => undefined);
    } while (!signal.aborted && Date.now() < end);
  }

  /** One poll. @throws GatewayError chain_unavailable; what the database throws. */
  async step(): Promise<void> {
    const ids = await this.pool.ids();
    const fresh = ids.filter((id) => !this.read.has(id)).slice(0, maxRead);
    await this.store(fresh);
    const seen = new Set([...this.read, ...fresh]);
    this.read = new Set(ids.filter((id) => seen.has(id)));
    await this.endGone(new Set(ids));
  }

  private async store(ids: string[]): Promise<void> {
    const { chain, database, deposits } = this.options;
    if (ids.length === 0) return;
    const found = await this.pool.deposits(ids, (keys) => deposits.depositAddresses(database.manager, chain.family, keys));
    if (found.length === 0) return;
    await inTransaction(database, (manager) => deposits.recordPendingDeposits(manager, chain, found.slice(0, maxFound)));
  }

  private async endGone(waiting: ReadonlySet<string>): Promise<void> {
    const { chain, database, deposits } = this.options;
    const stored = await deposits.findPendingHashes(database.manager, chain.name);
    const missing = stored.filter((hash) => !waiting.has(hash));
    this.missed = new Map(missing.map((hash) => [hash, (this.missed.get(hash) ?? 0) + 1]));
    const due = missing.filter((hash) => (this.missed.get(hash) ?? 0) >= missedPolls).slice(0, maxAsked);
    if (due.length === 0) return;
    const gone = await this.pool.findGone(due);
    // of the others a block is not scanned yet, or another node has them: they are asked about later
    for (const hash of due) this.missed.delete(hash);
    await deposits.endPendingDeposits(database.manager, chain.name, gone);
  }

  private async tryStep(): Promise<void> {
    const { chain, logger } = this.options;
    try {
      await this.step();
      if (this.failing) logger.info({ chain: chain.name }, 'the pool of transactions can be read again');
      this.failing = false;
    } catch (error) {
      if (!this.failing)
        logger.warn({ err: error, chain: chain.name }, 'the pool of transactions cannot be read: trying again until it works');
      this.failing = true;
    }
  }
}
