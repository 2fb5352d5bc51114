import type { DataSource } from 'typeorm';
import { getFamily as productFamily } from '../../../src/chains/families';
import type { GetFamily } from '../../../src/chains/family';
import { newId } from '../../../src/platform/ids';
import { buildUser } from '../../factories';

interface Factor {
  type?: 'BLACKLIST' | 'WHITELIST';
  chain?: string;
  status?: 'active' | 'inactive';
  /** Seconds. */
  ago?: number;
  family?: string;
  getFamily?: GetFamily;
}

/** Puts an address on a list of a client, as POST /client/security-factors stores it; returns the factor_id. */
export async function listAddress(
  database: DataSource,
  { clientId }: { clientId: string },
  address: string,
  { type = 'BLACKLIST', chain = 'ethereum', status = 'active', ago = 0, family = 'evm', getFamily = productFamily }: Factor = {},
): Promise<string> {
  const factorId = newId();
  const { userId } = await buildUser(database, { clientId });
  await database.query(
    `insert into security_factors (factor_id, client_id, factor_type, chain, address, address_key, status, added_by, activated_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, clock_timestamp() - make_interval(secs => $9))`,
    [factorId, clientId, type, chain, address, getFamily(family).parseAddress(address)?.key, status, userId, ago],
  );
  return factorId;
}

export const unlist = (database: DataSource, factorId: string) =>
  database.query(`update security_factors set status = 'inactive' where factor_id = $1`, [factorId]);

export const setPolicy = (
  database: DataSource,
  { clientId }: { clientId: string },
  mode: 'off' | 'approve' | 'only',
  coolingSeconds = 0,
) =>
  database.query('update clients set whitelist_mode = $2, whitelist_cooling_seconds = $3 where client_id = $1', [
    clientId,
    mode,
    coolingSeconds,
  ]);

export const auditOf = (database: DataSource, action: string, subjectId: string) =>
  database.query<Record<string, unknown>[]>(
    'select * from audit_events where action = $1 and subject_id = $2 order by audit_id',
    [action, subjectId],
  );
