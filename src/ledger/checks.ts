import { type Check, gasChecks } from './gas-checks';

/** Amounts moved by each transaction, by kind of posting; used by the checks below. Atomic units. */
const moved = /* sql */ `
  select p.tx_id, e.symbol,
         sum(e.amount) filter (where e.bucket = 'LOCKED') as held,
         sum(e.amount) filter (where e.bucket = 'EXTERNAL') as outside,
         sum(e.amount) filter (where e.bucket = 'FEES') as fees
    from ledger_postings p join ledger_entries e using (posting_id)
   where p.kind <> 'adjustment'
   group by p.tx_id, e.symbol`;

/** What has to be true of the rows of the ledger; each yields the rows of which it is not. */
export const checks: Check[] = [
  {
    name: 'every posting sums to zero',
    sql: `select p.posting_id || ' ' || coalesce(e.chain || ' ' || e.symbol, '') as subject, '0' as expected, coalesce(sum(e.amount)::text, 'no entries') as actual
            from ledger_postings p left join ledger_entries e using (posting_id)
           group by p.posting_id, e.chain, e.symbol having sum(e.amount) is distinct from 0`,
  },
  {
    name: 'every posting has all its entries',
    sql: `select p.posting_id::text as subject, p.entries::text as expected, count(e.line)::text as actual
            from ledger_postings p left join ledger_entries e using (posting_id)
           group by p.posting_id having p.entries <> count(e.line)`,
  },
  {
    name: 'balances are the sums of their entries',
    sql: `select l.ledger_account_id || ' ' || l.chain || ' ' || l.symbol as subject,
                 'available ' || coalesce(s.available, 0) || ', locked ' || coalesce(s.locked, 0) as expected,
                 'available ' || l.available || ', locked ' || l.locked as actual
            from ledger_accounts l
            left join (select ledger_account_id,
                              sum(amount) filter (where bucket = 'AVAILABLE') as available,
                              sum(amount) filter (where bucket = 'LOCKED') as locked
                         from ledger_entries where ledger_account_id is not null group by ledger_account_id) s using (ledger_account_id)
           where l.available <> coalesce(s.available, 0) or l.locked <> coalesce(s.locked, 0)`,
  },
  {
    name: 'locked balances are what open transfers hold',
    sql: `select l.ledger_account_id || ' ' || l.chain || ' ' || l.symbol as subject, coalesce(h.held, 0)::text as expected, l.locked::text as actual
            from ledger_accounts l
            left join (select account_id, chain, symbol, sum(amount) as held from (
                         select account_id, chain, token_symbol as symbol, amount from transactions
                          where is_held and ended_at is null
                         union all
                         select account_id, chain, fee_symbol, fee_locked from transactions
                          where is_held and ended_at is null
                       ) holds group by account_id, chain, symbol) h using (account_id, chain, symbol)
           where l.locked <> coalesce(h.held, 0)`,
  },
  {
    name: 'entries belong to the account of their transaction',
    sql: `select e.posting_id || ' line ' || e.line as subject, t.account_id || ' ' || t.chain as expected, coalesce(l.account_id || ' ', '') || e.chain as actual
            from ledger_entries e join ledger_postings p using (posting_id) join transactions t using (tx_id)
            left join ledger_accounts l using (ledger_account_id)
           where e.chain <> t.chain
              or (e.ledger_account_id is not null and (l.account_id, l.chain, l.symbol) is distinct from (t.account_id, e.chain, e.symbol))`,
  },
  {
    name: 'every transaction has the postings of its state',
    sql: `select t.tx_id || ' ' || t.transaction_type || ' ' || t.status as subject, w.kinds as expected, coalesce(k.kinds, '') as actual
            from transactions t
            cross join lateral (select case
                when t.is_held and t.ended_at is null then 'lock'
                when t.is_held and t.status = 'CONFIRMED' then 'lock settle'
                when t.is_held and t.status = 'FAILED' and t.block_hash is not null then 'lock refund'
                when t.is_held then 'lock unlock'
                when t.direction = 'out' then case t.status when 'CONFIRMED' then 'gas' else '' end
                when t.status = 'DETECTED' then ''
                when t.status = 'CONFIRMED' then 'deposit'
                -- orphaned before or after it was credited
                when exists (select 1 from transaction_events v where v.tx_id = t.tx_id and v.status = 'CONFIRMED') then 'deposit deposit_reversal'
                else '' end as kinds) w
            left join (select tx_id, string_agg(kind, ' ' order by kind) as kinds from ledger_postings
                        where kind not in ('lock_more', 'adjustment') group by tx_id) k using (tx_id)
           where (t.is_held or not t.is_signed) and w.kinds <> coalesce(k.kinds, '')`,
  },
  {
    name: 'ended transactions hold nothing, open ones what they say',
    sql: `with moved as (${moved}), holds as (
            select tx_id, symbol, sum(amount) as held from (
              select tx_id, token_symbol as symbol, amount from transactions where is_held and ended_at is null
              union all
              select tx_id, fee_symbol, fee_locked from transactions where is_held and ended_at is null
            ) both_holds group by tx_id, symbol)
          select coalesce(m.tx_id, h.tx_id) || ' ' || coalesce(m.symbol, h.symbol) as subject,
                 coalesce(h.held, 0)::text as expected, coalesce(m.held, 0)::text as actual
            from moved m full join holds h on h.tx_id = m.tx_id and h.symbol = m.symbol
           where coalesce(h.held, 0) <> coalesce(m.held, 0)`,
  },
  {
    name: 'what left and arrived is what the chain showed',
    sql: `with moved as (${moved})
          select t.tx_id || ' ' || t.transaction_type || ' ' || t.status as subject, w.outside::text as expected, coalesce(m.outside, 0)::text as actual
            from transactions t
            left join moved m on m.tx_id = t.tx_id and m.symbol = t.token_symbol
            left join lateral (
              -- as debitedBy in src/transfers/end/settle.ts
              select sum(case when i.success and i.kind <> 'cancellation' then coalesce(
                           nullif(greatest(coalesce(i.debited, case when t.contract_address is null then t.amount end), 0), 0), i.received, 0) else 0 end) as debited
                from (select distinct on (b.included_id) b.* from transfer_attempts b
                       where b.tx_id = t.tx_id and (b.included_id = t.tx_hash or b.is_booked)) i) a on true
            cross join lateral (select case
                when t.status <> 'CONFIRMED' then 0
                when t.direction = 'in' then -t.amount
                else coalesce(a.debited, t.amount) end as outside) w
           where (t.is_held or t.direction = 'in') and w.outside <> coalesce(m.outside, 0)`,
  },
  {
    name: 'the fee of a transfer is posted',
    sql: `with moved as (${moved})
          select t.tx_id || ' ' || t.status as subject, coalesce(t.fee, 0)::text as expected, coalesce(m.fees, 0)::text as actual
            from transactions t left join moved m on m.tx_id = t.tx_id and m.symbol = t.fee_symbol
           where t.is_held and t.ended_at is not null and coalesce(t.fee, 0) <> coalesce(m.fees, 0)`,
  },
  {
    name: 'gas is posted as the fee that it is',
    sql: `with moved as (${moved})
          select t.tx_id || ' ' || t.status as subject, t.amount::text as expected, coalesce(m.fees, 0)::text as actual
            from transactions t left join moved m on m.tx_id = t.tx_id and m.symbol = t.token_symbol
           where t.direction = 'out' and not t.is_held and not t.is_signed and t.status = 'CONFIRMED' and t.amount <> coalesce(m.fees, 0)`,
  },
  ...gasChecks,
  {
    name: 'nothing is reserved twice',
    sql: `select chain || ' ' || owner || ' ' || resource as subject, '1' as expected, count(*)::text as actual
            from reservations where released_at is null group by chain, owner, resource having count(*) > 1`,
  },
  {
    name: 'attempts use what their transaction has reserved',
    sql: `select l.tx_id || ' attempt ' || l.attempt as subject, a.chain || ' ' || l.tx_id as expected, coalesce(r.chain || ' ' || r.tx_id, 'none') as actual
            from attempt_reservations l join transfer_attempts a using (tx_id, attempt) left join reservations r using (reservation_id)
           where (a.chain, l.tx_id) is distinct from (r.chain, r.tx_id)`,
  },
  {
    name: 'every reservation is used by an attempt',
    sql: `select r.chain || ' ' || r.owner || ' ' || r.resource as subject, 'an attempt' as expected, 'none' as actual
            from reservations r where not exists (select 1 from attempt_reservations l where l.reservation_id = r.reservation_id)`,
  },
  {
    name: 'a transaction has attempts exactly when signing has begun',
    sql: `select t.tx_id || ' ' || t.status as subject,
                 case when t.signing_begun_at is null then 'no attempt' else 'an attempt' end as expected,
                 case when a.tx_id is null then 'no attempt' else 'an attempt' end as actual
            from transactions t left join transfer_attempts a on a.tx_id = t.tx_id and a.attempt = 1
           where t.is_signed and (t.signing_begun_at is null) <> (a.tx_id is null)`,
  },
  {
    name: 'no transfer has ended on a false proof of impossibility',
    // the one that ended it may be the one that had the proof: what was issued on that proof is then in a block beside it
    sql: `select a.tx_id || ' attempt ' || a.attempt || ' ' || t.status as subject, 'in no block' as expected, a.included_id || ' in block ' || a.block_number as actual
            from transfer_attempts a join transactions t using (tx_id)
           where a.block_number is not null and not a.is_booked and t.ended_at is not null and (a.included_id, a.block_hash) is distinct from (t.tx_hash, t.block_hash)
             and exists (select from transfer_attempts p where p.tx_id = a.tx_id and p.impossible_proof is not null and p.block_number is not null)`,
  },
  {
    name: 'no deposit is stored twice',
    sql: `select chain || ' ' || tx_hash || ' ' || position as subject, '1' as expected, count(*)::text as actual
            from transactions where direction = 'in' and status <> 'ORPHANED'
           group by chain, tx_hash, position having count(*) > 1`,
  },
  {
    name: 'the timeline ends with the state',
    sql: `select t.tx_id::text as subject, t.version || ' ' || t.status as expected, coalesce(v.seq || ' ' || v.status, 'none') as actual
            from transactions t
            left join lateral (select seq, status from transaction_events e where e.tx_id = t.tx_id order by seq desc limit 1) v on true
           where (t.version, t.status) is distinct from (v.seq, v.status)`,
  },
];
