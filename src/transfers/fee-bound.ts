import type { EntityManager } from 'typeorm';
import type { FeePolicy } from '../chains/adapter';
import type { ChainDefinition, FeeLevels, TokenDefinition } from '../chains/types';
import { GatewayError } from '../platform/errors';

interface CursorRow {
  base_fee: string | null;
  priority_fee: string | null;
  gas_price: string;
  l1_data_fee: string;
}

/**
 * Highest network fee to lock for a transfer, from the fee levels the chain's follower saw last: no chain is asked while
 * locking. Atomic units of the native coin.
 * @throws GatewayError unavailable until the follower has seen the chain.
 */
export async function feeBound(
  manager: EntityManager,
  policy: FeePolicy,
  chain: ChainDefinition,
  token: TokenDefinition,
): Promise<bigint> {
  const [row] = await manager.query<CursorRow[]>(
    'select base_fee, priority_fee, gas_price, l1_data_fee from chain_cursors where chain = $1',
    [chain.name],
  );
  if (!row) throw new GatewayError('unavailable', `Fees of ${chain.name} are not known yet`, { retryAfterSeconds: 5 });
  const levels: FeeLevels = {
    baseFee: row.base_fee === null ? null : BigInt(row.base_fee),
    priorityFee: row.priority_fee === null ? null : BigInt(row.priority_fee),
    gasPrice: BigInt(row.gas_price),
    l1DataFee: BigInt(row.l1_data_fee),
  };
  return policy.bound(chain, token, levels);
}
