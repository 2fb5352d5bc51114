import type { EntityManager } from 'typeorm';

/** A difference between the rows of the ledger, or between the ledger and the chain. */
export interface LedgerDifference {
  check: string;
  /** Id of the row, with its chain and symbol where it has one. */
  subject: string;
  expected: string;
  actual: string;
}

/** A ledger account, with the fields that are needed to read its balance from the chain. */
export interface AccountOnChain {
  ledgerAccountId: string;
  chain: string;
  address: string;
  /** Canonical form of the address. */
  addressKey: string;
  symbol: string;
  /** null: native coin. */
  contractAddress: string | null;
}

interface OnChainRow {
  ledger_account_id: string;
  chain: string;
  address: string;
  address_key: string;
  symbol: string;
  contract_address: string | null;
  expected: string;
}

const pageSize = 200;

/**
 * The balance on the chain is that of the ledger, plus deposits in blocks that are not credited yet, less what included transfers took that
 * are not settled yet, and less the fees of settlements that are not charged yet. A block between the two readings causes a temporary
 * difference. `accountIds`: these accounts alone; null: all.
 */
export async function compareWithChain(
  snapshot: EntityManager,
  balanceOnChain: (account: AccountOnChain) => Promise<bigint | null>,
  limit: number,
  accountIds: readonly string[] | null = null,
): Promise<LedgerDifference[]> {
  const differences: LedgerDifference[] = [];
  let after = '00000000-0000-0000-0000-000000000000';
  while (differences.length < limit) {
    const page = await snapshot.query<OnChainRow[]>(
      `select l.ledger_account_id, l.chain, a.address, a.address_key, l.symbol, l.contract_address,
              l.available + l.locked
              + coalesce((select sum(t.amount) from transactions t where t.asset_id = l.ledger_account_id and t.status = 'DETECTED'
                             and t.block_hash is not null and t.account_id = l.account_id), 0)
              - coalesce((select sum(case when t.token_symbol = l.symbol and i.success then coalesce(i.debited, 0) else 0 end
                                   + case when t.fee_symbol = l.symbol then i.fee else 0 end)
                            from transactions t join transfer_attempts i on i.tx_id = t.tx_id and i.block_number is not null
                           where t.account_id = l.account_id and t.chain = l.chain and t.ended_at is null), 0)
              - coalesce((select sum(i.fee)
                            from transactions t join transfer_attempts i on i.tx_id = t.tx_id and i.block_number is not null
                           where t.sender_address = a.address and t.chain = l.chain and t.fee_symbol = l.symbol and not t.is_held
                             and t.ended_at is null), 0) as expected
         from ledger_accounts l join accounts a using (account_id)
        where l.ledger_account_id > $1 and ($2::uuid[] is null or l.account_id = any($2)) order by l.ledger_account_id limit ${pageSize}`,
      [after, accountIds],
    );
    for (const row of page) {
      const account = {
        ledgerAccountId: row.ledger_account_id,
        chain: row.chain,
        address: row.address,
        addressKey: row.address_key,
        symbol: row.symbol,
        contractAddress: row.contract_address,
      };
      const actual = await balanceOnChain(account);
      if (actual === null || actual === BigInt(row.expected)) continue;
      const subject = `${row.ledger_account_id} ${row.chain} ${row.symbol} ${row.address}`;
      differences.push({
        check: 'the chain holds what the ledger says',
        subject,
        expected: row.expected,
        actual: actual.toString(),
      });
    }
    const last = page.at(-1);
    if (!last || page.length < pageSize) break;
    after = last.ledger_account_id;
  }
  return differences;
}
