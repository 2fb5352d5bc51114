import type { EntityManager } from 'typeorm';
import type { ChainObservation } from '../messages/transfer';
import type { FollowOptions } from './ports';

/** Transfers that are asked about at once; more wait until some of these have ended. */
const limit = 100;

/**
 * Parked transfers that spend what is in no block: nobody asks the chain about them, and what they spend may never come to be. They are asked
 * about once for each block.
 */
export class FundingWatch {
  /** null: it could not be asked about. */
  private readonly seen = new Map<string, ChainObservation | null>();
  private askedAt = 0;

  constructor(private readonly options: Pick<FollowOptions, 'chain' | 'database' | 'observe' | 'logger'>) {}

  /** What their workflows are to be told: those that can never be executed. `nextBlock`: the first that is not scanned. */
  async findLost(nextBlock: number): Promise<Map<string, ChainObservation>> {
    const { chain, database } = this.options;
    const waiting = await findUnfunded(database.manager, chain.name);
    for (const txId of this.seen.keys()) if (!waiting.includes(txId)) this.seen.delete(txId);
    for (const txId of waiting) {
      const isKnown = this.seen.get(txId)?.ends || (this.seen.has(txId) && nextBlock === this.askedAt);
      if (!isKnown) this.seen.set(txId, await this.ask(txId));
    }
    this.askedAt = nextBlock;
    return new Map([...this.seen].flatMap(([txId, seen]) => (seen?.ends ? [[txId, seen] as const] : [])));
  }

  /** One that cannot be asked about keeps nobody else's workflow from being told what it waits for. */
  private async ask(txId: string): Promise<ChainObservation | null> {
    const { observe, logger } = this.options;
    try {
      return await observe(txId);
    } catch (error) {
      logger.warn({ err: error, tx_id: txId }, 'a parked transfer could not be asked about: it is with the next block');
      return null;
    }
  }
}

/** On chains without outputs there are none. */
async function findUnfunded(manager: EntityManager, chain: string): Promise<string[]> {
  const rows = await manager.query<{ tx_id: string }[]>(
    `select t.tx_id from transactions t
      where t.chain = $1 and t.status = 'NEEDS_ATTENTION' and t.ended_at is null
        and exists (select from chain_outputs o where o.chain = $1)
        and exists (select from reservations r
                     where r.tx_id = t.tx_id and r.ordinal is null and r.released_at is null
                       and not exists (select from chain_outputs o where (o.chain, o.resource) = (r.chain, r.resource)))
      order by t.tx_id limit ${limit}`,
    [chain],
  );
  return rows.map(({ tx_id: txId }) => txId);
}
