import type { EntityManager } from 'typeorm';
import type { ChainObservation } from '../messages/transfer';
import type { FundingMemory } from './funding-memory';
import type { FollowOptions } from './ports';

/** Transfers that are looked at; further ones wait until some of these have ended. */
const limit = 1_000;
/** Questions in one step of the follower, which has more to do; those asked about longest ago come first. */
const perStep = 5;

/** Longer than the time between two runs of a follower, and shorter than another process follows for at a time. */
const forgetAfterMs = 60_000;

/**
 * Parked transfers that spend what is in no block, or what another transaction of their sender has used up: nobody else asks the chain about
 * them, and they may never be executed. Each is asked about at most once for a block.
 */
export class FundingWatch {
  private readonly asked: FundingMemory['asked'];

  constructor(
    private readonly options: Pick<FollowOptions, 'chain' | 'client' | 'database' | 'observe' | 'logger' | 'signal' | 'funding'>,
  ) {
    this.asked = options.funding.asked;
    // another process has followed the chain since
    if (Date.now() - options.funding.usedAt > forgetAfterMs) this.asked.clear();
  }

  /** What workflows are to be told: their transfers can never be executed. */
  get lost(): Map<string, ChainObservation> {
    return new Map([...this.asked].flatMap(([txId, { seen }]) => (seen?.ends ? [[txId, seen] as const] : [])));
  }

  /** @param nextBlock the first that is not scanned */
  async ask(nextBlock: number): Promise<void> {
    const { chain, client, database, signal, funding } = this.options;
    funding.usedAt = Date.now();
    const final = nextBlock - chain.finalityDepth;
    const waiting = new Set([
      ...(await findUnfunded(database.manager, chain.name)),
      ...(await findSuperseded(database.manager, chain.name, { final, isCompared: client.compareBlock !== undefined })),
    ]);
    for (const txId of this.asked.keys()) if (!waiting.has(txId)) this.asked.delete(txId);
    const lastOf = (txId: string): number => this.asked.get(txId)?.nextBlock ?? -1;
    const due = [...waiting].filter((txId) => lastOf(txId) !== nextBlock && !this.asked.get(txId)?.seen?.ends);
    for (const txId of due.sort((a, b) => lastOf(a) - lastOf(b)).slice(0, perStep)) {
      if (signal.aborted) return;
      const seen = await this.observe(txId);
      this.asked.set(txId, { nextBlock, seen });
      // the endpoint may be slow, and the chain is followed by it too
      if (!seen) return;
    }
  }

  private async observe(txId: string): Promise<ChainObservation | null> {
    const { observe, logger } = this.options;
    try {
      return await observe(txId);
    } catch (error) {
      logger.warn({ err: error, tx_id: txId }, 'a parked transfer could not be asked about: it is with the next block');
      return null;
    }
  }
}

/** On chains without outputs there are none; the smallest one is found by the key, where any one could be looked for in all rows. */
async function findUnfunded(manager: EntityManager, chain: string): Promise<string[]> {
  const rows = await manager.query<{ tx_id: string }[]>(
    `select t.tx_id from transactions t
      where t.chain = $1 and t.status = 'NEEDS_ATTENTION' and t.ended_at is null
        and (select min(o.resource) from chain_outputs o where o.chain = $1) is not null
        and exists (select from reservations r
                     where r.tx_id = t.tx_id and r.ordinal is null and r.released_at is null
                       and not exists (select from chain_outputs o where (o.chain, o.resource) = (r.chain, r.resource)))
      order by t.tx_id limit ${limit}`,
    [chain],
  );
  return rows.map(({ tx_id: txId }) => txId);
}

/**
 * By a transaction in a block up to `final`. With a proof for every attempt an operator has been asked already, unless the proof ends the
 * transfer: its workflow may not have been told. `isCompared`: several endpoints are configured. A proof from when there was one alone ends
 * nothing before all of them show it.
 */
async function findSuperseded(
  manager: EntityManager,
  chain: string,
  { final, isCompared }: { final: number; isCompared: boolean },
): Promise<string[]> {
  const rows = await manager.query<{ tx_id: string }[]>(
    `select t.tx_id from transactions t
       join reservations r on r.tx_id = t.tx_id
       join foreign_transactions f on (f.chain, f.owner, f.ordinal) = (r.chain, r.owner, r.ordinal)
      where t.chain = $1 and t.status = 'NEEDS_ATTENTION' and t.ended_at is null and f.block_number <= $2
        and exists (select from transfer_attempts a where a.tx_id = t.tx_id
                     and (a.impossible_proof is null or (a.impossible_proof->>'ends')::boolean
                          or ($3 and not a.impossible_proof ? 'agreed_by')))
      order by t.tx_id limit ${limit}`,
    [chain, final, isCompared],
  );
  return rows.map(({ tx_id: txId }) => txId);
}
