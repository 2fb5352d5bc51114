import type { EntityManager } from 'typeorm';
import { GatewayError } from '../platform/errors';
import type { ChainDefinition, FeeLevels } from './types';

const maxAgeSeconds = 600;

/** Levels that the family cannot read, as those of another release, are as good as none: the follower stores its own soon. */
export const unreadableLevels = (family: string): GatewayError =>
  new GatewayError('chain_unavailable', `The fees on record are not of ${family}: they are currently not known`, {
    retryAfterSeconds: 15,
  });

const isRecent = 'fee_levels_at > clock_timestamp() - make_interval(secs => $1)';

/** Of every chain by its name, as findFeeLevels: one that has none of the last 10 minutes is left out. */
export async function readFeeLevels(manager: EntityManager): Promise<Map<string, FeeLevels>> {
  const rows = await manager.query<{ chain: string; fee_levels: FeeLevels }[]>(
    `select chain, fee_levels from chain_cursors where ${isRecent}`,
    [maxAgeSeconds],
  );
  return new Map(rows.map(({ chain, fee_levels: levels }) => [chain, levels]));
}

/**
 * The fee levels that the chain's follower stored last; no chain is called.
 * @throws GatewayError chain_unavailable when there are none, or none of the last 10 minutes.
 */
export async function findFeeLevels(manager: EntityManager, { name }: Pick<ChainDefinition, 'name'>): Promise<FeeLevels> {
  const [row] = await manager.query<{ fee_levels: FeeLevels }[]>(
    `select fee_levels from chain_cursors where ${isRecent} and chain = $2`,
    [maxAgeSeconds, name],
  );
  if (!row) throw new GatewayError('chain_unavailable', `The fees of ${name} are currently not known`, { retryAfterSeconds: 15 });
  return row.fee_levels;
}
