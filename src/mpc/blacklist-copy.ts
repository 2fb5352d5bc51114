import type { DataSource } from 'typeorm';
import type { BlacklistChanges } from '../messages/blacklist';

/**
 * A node's own copy of the clients' blacklists: what the node refuses does not depend on what an order says. Recipients are compared with
 * it by the statement that admits a signature (src/mpc/journal.ts).
 */
export class BlacklistCopy {
  constructor(private readonly database: DataSource) {}

  /**
   * Applies changes that follow directly on the version of this copy, in one database transaction; other changes have no effect.
   * Returns the resulting version, by which the sender knows which changes to send next.
   */
  apply({ clientId, after, through, changes }: BlacklistChanges): Promise<number> {
    return this.database.transaction(async (manager) => {
      await manager.query(`insert into blacklist_versions (client_id, version) values ($1, 0) on conflict do nothing`, [
        clientId,
      ]);
      const [row] = await manager.query<{ version: string }[]>(
        'select version from blacklist_versions where client_id = $1 for update',
        [clientId],
      );
      const version = Number(row?.version);
      if (version !== after || through <= after) return version;
      await manager.query(
        `with changes as (
           select chain, address_key, listed from unnest($2::text[], $3::text[], $4::boolean[]) as c (chain, address_key, listed)
         ), added as (
           insert into blacklist (client_id, chain, address_key) select $1, chain, address_key from changes where listed
           on conflict do nothing
         )
         delete from blacklist b using changes c
          where b.client_id = $1 and b.chain = c.chain and b.address_key = c.address_key and not c.listed`,
        [
          clientId,
          changes.map(({ chain }) => chain),
          changes.map(({ addressKey }) => addressKey),
          changes.map(({ listed }) => listed),
        ],
      );
      await manager.query('update blacklist_versions set version = $2 where client_id = $1', [clientId, through]);
      return through;
    });
  }

  /** 0 without any changes so far. */
  async version(clientId: string): Promise<number> {
    const [row] = await this.database.query<{ version: string }[]>(
      'select version from blacklist_versions where client_id = $1',
      [clientId],
    );
    return Number(row?.version ?? 0);
  }
}
