import type { EntityManager } from 'typeorm';
import type { BlockScan, FindOrigins, Origin } from './chain-client';

/** What transactions have spent on which outputs of the gateway depend: attempts, and what the follower has found (output_origins). */

/** Rows of one statement. */
const chunkSize = 5_000;

interface Row {
  id: string;
  is_ours: boolean;
  resource: string;
  used_by: string | null;
  is_in_block: boolean;
}

export const createFindOrigins =
  (manager: EntityManager, chain: string): FindOrigins =>
  async (ids) => {
    const rows = await manager.query<Row[]>(
      `select a.message_key as id, true as is_ours, r.resource, o.spent_by as used_by, o.resource is not null as is_in_block
         from transfer_attempts a join attempt_reservations l using (tx_id, attempt) join reservations r using (reservation_id)
         left join chain_outputs o on (o.chain, o.resource) = (r.chain, r.resource)
        where a.chain = $1 and a.message_key = any($2::text[])
       union all
       select transaction, false, input, spent_by, false from output_origins where chain = $1 and transaction = any($2::text[])
       limit ${chunkSize}`,
      [chain, ids],
    );
    const origins = new Map<string, Origin>();
    for (const { id, is_ours: isOurs, resource, used_by: usedBy, is_in_block: isInBlock } of rows) {
      const origin = origins.get(id) ?? { id, isOurs, inputs: [] };
      origins.set(id, {
        ...origin,
        isOurs: origin.isOurs || isOurs,
        inputs: [...origin.inputs, { resource, usedBy, isInBlock }],
      });
    }
    return [...origins.values()];
  };

/**
 * Stores what the transactions of scanned blocks have spent that made outputs of the gateway; forgets what is final. `finalBlock`: number of
 * the newest final block. Call it in the follower's database transaction. Idempotent.
 */
export async function storeOrigins(
  manager: EntityManager,
  chain: string,
  blocks: readonly BlockScan[],
  finalBlock: number,
): Promise<void> {
  if (!blocks.some(({ outputs }) => outputs)) return;
  const rows = blocks
    .flatMap(({ outputs }) => outputs?.origins ?? [])
    .flatMap(({ inputs, ...it }) => inputs.map((input) => ({ ...it, input })));
  for (let start = 0; start < rows.length; start += chunkSize) {
    const chunk = rows.slice(start, start + chunkSize);
    await manager.query(
      `insert into output_origins (chain, transaction, input, spent_by, spent_block)
       select distinct on (id, input) $1, id, input, id, block from unnest($2::text[], $3::text[], $4::bigint[]) as o (id, input, block)
       on conflict (chain, transaction, input) do update set spent_by = excluded.spent_by, spent_block = excluded.spent_block`,
      [chain, chunk.map(({ id }) => id), chunk.map(({ input }) => input), chunk.map(({ blockNumber }) => blockNumber)],
    );
  }
  await manager.query('delete from output_origins where chain = $1 and spent_by = transaction and spent_block <= $2', [
    chain,
    finalBlock,
  ]);
}
