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
            join lateral (
              select sum(b.fee) as fee from (select distinct on (a.included_id) a.fee from transfer_attempts a
                where a.tx_id = s.tx_id and (a.block_hash = s.block_hash or a.is_booked)) b) i on i.fee is not null
            cross join lateral (select coalesce(sum(e.amount), 0) as fees from ledger_postings l join ledger_entries e using (posting_id)
                                 where l.tx_id = g.tx_id and e.bucket = 'FEES') p
           where i.fee <> p.fees`,
  },
];
