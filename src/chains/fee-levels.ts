import type { EntityManager } from 'typeorm';
import { GatewayError } from '../platform/errors';
import type { ChainDefinition, FeeLevels } from './types';

const maxAgeSeconds = 600;

/**
 * The fee levels that the chain's follower stored last; no chain is called.
 * @throws GatewayError chain_unavailable when there are none, or none of the last 10 minutes.
 */
export async function findFeeLevels(manager: EntityManager, { name }: Pick<ChainDefinition, 'name'>): Promise<FeeLevels> {
  const [row] = await manager.query<{ fee_levels: FeeLevels }[]>(
    'select fee_levels from chain_cursors where chain = $1 and fee_levels_at > clock_timestamp() - make_interval(secs => $2)',
    [name, maxAgeSeconds],
  );
  if (!row) throw new GatewayError('chain_unavailable', `The fees of ${name} are currently not known`, { retryAfterSeconds: 15 });
  return row.fee_levels;
}
