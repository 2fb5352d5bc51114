import type { EntityManager } from 'typeorm';
import { GatewayError } from '../../platform/errors';

interface LimitedTransfer {
  txId: string;
  walletId: string;
  symbol: string;
  /** Atomic units. */
  amount: bigint;
  decimals: number;
  /** It was accepted by an earlier database transaction, and is in the sums already. */
  isAccepted: boolean;
}

/** Number of decimals at which display amounts are compared: more than any token has, so nothing is rounded. */
const scale = 36;

/** From when it counts; conditions on `transactions`, as the index transfers_counted has them. */
const countedAt = 'coalesce(approved_at, created_at)';
const counts = `is_held and status not in ('REJECTED', 'FAILED', 'CANCELLED')`;
const since = `now() - interval '24 hours'`;
/** The first hour of which all counts. */
const firstWholeHour = `date_trunc('hour', ${since}, 'UTC') + interval '1 hour'`;

/**
 * What others have of a daily limit, exactly: the sums of whole hours, and the transfers of the hour in which the last 24 begin one by one.
 * Parameters: wallet, symbol, the transfer, whether the sums have it.
 */
export const spentToday = /* sql */ `
  select decimals, sum(amount) as sum from (
    select decimals, amount from wallet_sums where wallet_id = $1 and symbol = $2 and hour >= ${firstWholeHour}
    union all
    select decimals, amount from transactions
     where wallet_id = $1 and token_symbol = $2 and ${counts} and ${countedAt} > ${since} and ${countedAt} < ${firstWholeHour} and tx_id <> $3
    union all
    select decimals, -amount from transactions where $4 and tx_id = $3 and ${counts} and ${countedAt} >= ${firstWholeHour}
  ) counted group by decimals`;

/**
 * Checks the wallet's limits for a symbol: the largest single amount, and the sum of the last 24 hours over every account and
 * chain. Rejected, failed and cancelled transfers do not count; approved ones count from their approval. Concurrent transfers are
 * serialised here, but only in wallets that have a limit: each one's sums are committed with it, before the next one reads them. The row of
 * the transfer itself may be stored already and is left out of the sum. `readOnly`: others are not waited for, and nothing is locked.
 * @throws GatewayError business_error.
 */
export async function checkLimits(
  manager: EntityManager,
  { txId, walletId, symbol, amount, decimals, isAccepted }: LimitedTransfer,
  { readOnly = false } = {},
): Promise<void> {
  const [limit] = await manager.query<{ max_single: string | null; max_daily: string | null }[]>(
    `select max_single, max_daily from wallet_limits where wallet_id = $1 and symbol = $2${readOnly ? '' : ' for update'}`,
    [walletId, symbol],
  );
  if (!limit) return;
  const scaled = amount * 10n ** BigInt(scale - decimals);
  if (limit.max_single !== null && scaled > scaledLimit(limit.max_single)) {
    throw new GatewayError(
      'business_error',
      `The amount exceeds the wallet's limit of ${limit.max_single} ${symbol} per transfer`,
    );
  }
  if (limit.max_daily === null) return;
  const sums = await manager.query<{ decimals: number; sum: string }[]>(spentToday, [walletId, symbol, txId, isAccepted]);
  const spent = sums.reduce((total, row) => total + BigInt(row.sum) * 10n ** BigInt(scale - row.decimals), 0n);
  if (spent + scaled > scaledLimit(limit.max_daily)) {
    throw new GatewayError(
      'business_error',
      `The amount exceeds the rest of the wallet's limit of ${limit.max_daily} ${symbol} in 24 hours`,
    );
  }
}

/** Digits beyond the scale are dropped: no amount has any, so the comparison stays exact. */
export function scaledLimit(limit: string): bigint {
  const [whole = '', fraction = ''] = limit.split('.');
  return BigInt(whole + fraction.slice(0, scale).padEnd(scale, '0'));
}
