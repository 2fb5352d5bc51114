import type { EntityManager } from 'typeorm';
import { checks } from './checks';
import { type AccountOnChain, compareWithChain, type LedgerDifference } from './compare-with-chain';

export interface VerifyOptions {
  /** Maximum number of reported differences of each kind. */
  limit?: number;
  /** Balance on the chain in atomic units; null when it cannot be read. Without it the chain is not called. */
  balanceOnChain?: (account: AccountOnChain) => Promise<bigint | null>;
  /** Accounts whose balances are read from the chain; without it, all. */
  accountIds?: readonly string[];
}

/**
 * Recomputes balances from the entries and returns the differences; changes nothing. Everything is read in one snapshot and
 * aggregated by Postgres, so that memory use is bounded by `limit` differences of each kind.
 */
export function verifyLedger(manager: EntityManager, options: VerifyOptions = {}): Promise<LedgerDifference[]> {
  return manager.transaction('REPEATABLE READ', async (snapshot) => {
    // a whole ledger takes longer than the statement time-out of requests
    await snapshot.query('set local statement_timeout = 0');
    await snapshot.query('set transaction read only');
    const limit = options.limit ?? 1000;
    const differences: LedgerDifference[] = [];
    for (const { name, sql } of checks) {
      const rows = await snapshot.query<Omit<LedgerDifference, 'check'>[]>(`${sql} limit ${limit}`);
      differences.push(...rows.map(({ subject, expected, actual }) => ({ check: name, subject, expected, actual })));
    }
    const { balanceOnChain, accountIds = null } = options;
    if (balanceOnChain) differences.push(...(await compareWithChain(snapshot, balanceOnChain, limit, accountIds)));
    return differences;
  });
}
