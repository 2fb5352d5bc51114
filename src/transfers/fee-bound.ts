import type { EntityManager } from 'typeorm';
import type { FeePolicy } from '../chains/adapter';
import type { ChainDefinition, FeeLevels, TokenDefinition } from '../chains/types';
import { GatewayError } from '../platform/errors';

/** Older fee levels say nothing about what the network takes now. */
const maxAgeMinutes = 10;

interface CursorRow {
  base_fee: string | null;
  priority_fee: string | null;
  gas_price: string;
  l1_data_fee: string;
}

/**
 * Highest network fee to lock for a transfer, from the fee levels the chain's follower saw last: no chain is asked while
 * locking. Atomic units of the native coin.
 * @throws GatewayError chain_unavailable while the follower has not seen the chain for the last ten minutes.
 */
export async function feeBound(
  manager: EntityManager,
  policy: FeePolicy,
  chain: ChainDefinition,
  token: TokenDefinition,
): Promise<bigint> {
  const [row] = await manager.query<CursorRow[]>(
    `select base_fee, priority_fee, gas_price, l1_data_fee from chain_cursors
      where chain = $1 and updated_at > clock_timestamp() - make_interval(mins => $2)`,
    [chain.name, maxAgeMinutes],
  );
  if (!row) throw new GatewayError('chain_unavailable', `Fees of ${chain.name} are not known now`, { retryAfterSeconds: 15 });
  const levels: FeeLevels = {
    baseFee: row.base_fee === null ? null : BigInt(row.base_fee),
    priorityFee: row.priority_fee === null ? null : BigInt(row.priority_fee),
    gasPrice: BigInt(row.gas_price),
    l1DataFee: BigInt(row.l1_data_fee),
  };
  return policy.bound(chain, token, levels);
}
