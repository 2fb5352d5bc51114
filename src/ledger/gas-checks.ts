/** One comparison of rows. */
export interface Check {
  name: string;
  /** Yields subject, expected, actual. */
  sql: string;
}

/** What settlements have cost, and what the house has paid for them. */
export const gasChecks: Check[] = [
  {
    name: 'every settlement is charged to its sender, and nothing else is',
    sql: `select coalesce(s.tx_id, g.parent_tx_id, g.tx_id)::text as subject,
                 coalesce(s.sender_address || ' ' || s.chain || ' ' || s.fee || ' ' || s.fee_symbol, 'nothing') as expected,
                 coalesce(a.address || ' ' || g.chain || ' ' || g.amount || ' ' || g.token_symbol, 'nothing') as actual
            from (select * from transactions where transaction_type = 'X402_SETTLE' and ended_at is not null and fee > 0) s
            full join (select * from transactions where direction = 'out' and not is_held and not is_signed) g on g.parent_tx_id = s.tx_id
            left join accounts a on a.account_id = g.account_id
           where (s.sender_address, s.chain, s.fee, s.fee_symbol) is distinct from (a.address, g.chain, g.amount, g.token_symbol)`,
  },
  {
    name: 'a settler has paid what the block of its settlement shows',
    sql: `select g.tx_id || ' of ' || s.tx_id as subject, i.fee::text as expected, p.fees::text as actual
            from transactions s
            join transactions g on g.parent_tx_id = s.tx_id and g.direction = 'out' and not g.is_held and not g.is_signed
            join transfer_attempts i on i.tx_id = s.tx_id and i.block_hash = s.block_hash
            cross join lateral (select coalesce(sum(e.amount), 0) as fees from ledger_postings l join ledger_entries e using (posting_id)
                                 where l.tx_id = g.tx_id and e.bucket = 'FEES') p
           where i.fee <> p.fees`,
  },
];
