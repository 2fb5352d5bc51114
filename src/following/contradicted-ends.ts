import type { EntityManager } from 'typeorm';
import { stillStands } from './inclusions';

/** How the chain contradicts the end of a transfer. Derived from the rows, so that no crash can lose one. */
export type Contradiction = 'block_gone' | 'executed_after_proof' | 'charged_otherwise';

interface Contradicted {
  contradiction: Contradiction;
  /** Number of the block that is gone, of what has failed in it: what is done about it depends on the block that is read there now. */
  failedIn: number | null;
}

/** Most transfers of each kind that are read at once. */
const limit = 1000;

/** Ended transfers that the scanned blocks contradict, by id. Reads every end that is not final yet. */
export async function findContradictedEnds(manager: EntityManager, chain: string): Promise<Map<string, Contradicted>> {
  const charged = await find(manager, chain, 'charged_otherwise', chargedOtherwise);
  const gone = await find(manager, chain, 'block_gone', endedWithoutBlock);
  return new Map([...charged, ...gone, ...(await findExecutedAfterProof(manager, chain))]);
}

/** Of them those that only a new block can bring about; reads the few attempts that were executed although they had been proven impossible. */
export async function findExecutedAfterProof(manager: EntityManager, chain: string): Promise<Map<string, Contradicted>> {
  return new Map(await find(manager, chain, 'executed_after_proof', executedAfterProof));
}

async function find(manager: EntityManager, chain: string, contradiction: Contradiction, statement: string) {
  const rows = await manager.query<{ tx_id: string; failed_in?: string | null }[]>(statement, [chain]);
  return rows.map(({ tx_id: txId, failed_in: failedIn = null }): [string, Contradicted] => [
    txId,
    { contradiction, failedIn: failedIn === null ? null : Number(failedIn) },
  ]);
}

/** Not final yet, and no attempt is in the block that ended them: reorganised away, perhaps included again elsewhere. */
const endedWithoutBlock = `
  select t.tx_id, case when t.status = 'FAILED' then t.block_number end as failed_in from transactions t
   where t.chain = $1 and t.block_number is not null and t.finalized_at is null and t.is_signed
     and t.status in ('CONFIRMED', 'FAILED') and not ${stillStands} limit ${limit}`;

/**
 * A settlement that is in its block, perhaps again after it was in another one or in none: its settler has paid another fee than that
 * block shows. Only an adjustment can have made it so.
 */
const chargedOtherwise = `
  select t.tx_id from transactions t
    join transfer_attempts a on a.tx_id = t.tx_id and a.block_hash = t.block_hash
    join transactions g on g.parent_tx_id = t.tx_id and g.direction = 'out' and not g.is_held and not g.is_signed
   where t.chain = $1 and t.block_number is not null and t.finalized_at is null and t.is_signed and not t.is_held
     and t.status in ('CONFIRMED', 'FAILED')
     and exists (select from ledger_postings p where p.tx_id = g.tx_id and p.kind = 'adjustment')
     and not exists (select from transfer_attempts b where b.tx_id = t.tx_id and b.is_booked)
     and a.fee <> (select coalesce(sum(e.amount), 0) from ledger_postings p join ledger_entries e using (posting_id)
                    where p.tx_id = g.tx_id and e.bucket = 'FEES') limit ${limit}`;

/**
 * An attempt was executed although it had been proven impossible, and the chain has included one, it or what was issued on that proof, which is
 * neither what the end names nor booked with it.
 */
const executedAfterProof = `
  select distinct t.tx_id from transfer_attempts p join transactions t on t.tx_id = p.tx_id join transfer_attempts a on a.tx_id = p.tx_id
   where p.chain = $1 and p.impossible_proof is not null and p.block_number is not null
     and a.block_number is not null and not a.is_booked and t.ended_at is not null
     and (a.included_id, a.block_hash) is distinct from (t.tx_hash, t.block_hash) limit ${limit}`;
