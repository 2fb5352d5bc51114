import type { MigrationInterface, QueryRunner } from 'typeorm';

const schema = /* sql */ `
create table ledger_postings (
  posting_id uuid primary key,
  tx_id uuid not null references transactions,
  kind text not null check (kind in ('lock', 'lock_more', 'unlock', 'settle', 'refund', 'deposit', 'deposit_reversal', 'adjustment', 'gas')),
  -- the transaction's version when the posting was written; lock_more: number of the attempt that needed it
  seq integer not null,
  -- number of its entries: all are inserted by one statement, none can be added later
  entries smallint not null check (entries >= 2),
  -- entries of a lock that are written at commit (transactions_apply_hold), as jsonb rows of ledger_entries; null: written with the posting
  at_commit jsonb check (at_commit is null or kind = 'lock'),
  created_at timestamptz not null default now(),
  unique (tx_id, kind, seq)
);
-- a transaction moves money once: at most one posting locks, one ends the lock, one credits, one reverses the credit, one charges gas
create unique index postings_that_lock on ledger_postings (tx_id) where kind = 'lock';
create unique index postings_that_end on ledger_postings (tx_id) where kind in ('unlock', 'settle', 'refund');
create unique index postings_that_credit on ledger_postings (tx_id) where kind = 'deposit';
create unique index postings_that_charge_gas on ledger_postings (tx_id) where kind = 'gas';
create unique index postings_that_reverse on ledger_postings (tx_id) where kind = 'deposit_reversal';

create table ledger_entries (
  posting_id uuid not null references ledger_postings,
  line smallint not null,
  ledger_account_id uuid references ledger_accounts,
  -- AVAILABLE and LOCKED are balances of a client's ledger account. The others are internal accounts without a client:
  -- EXTERNAL: value outside the gateway; FEES: paid to the network; LOSS: shortfalls caused by events on the chain
  bucket text not null check (bucket in ('AVAILABLE', 'LOCKED', 'EXTERNAL', 'FEES', 'LOSS')),
  chain text not null,
  symbol text not null,
  amount numeric(78,0) not null check (amount <> 0),
  primary key (posting_id, line),
  check ((ledger_account_id is not null) = (bucket in ('AVAILABLE', 'LOCKED')))
);
create index ledger_entries_by_account on ledger_entries (ledger_account_id);

create trigger ledger_postings_append_only before update or delete or truncate on ledger_postings for each statement execute function refuse_change();
create trigger ledger_entries_append_only before update or delete or truncate on ledger_entries for each statement execute function refuse_change();

-- The entries of a posting are inserted by one statement. They balance per chain and symbol, and belong to the account of the
-- posting's transaction; a hold moves money between that account's balances only. This trigger adds them to the balances of
-- ledger_accounts; nothing else changes those.
create function apply_entries() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if exists (
    select 1 from added a
      join ledger_postings p on p.posting_id = a.posting_id
      join transactions t on t.tx_id = p.tx_id
      left join ledger_accounts l on l.ledger_account_id = a.ledger_account_id
     where a.chain <> t.chain
        or (a.ledger_account_id is not null and (l.account_id, l.chain, l.symbol) is distinct from (t.account_id, a.chain, a.symbol))
  ) then
    raise exception 'an entry does not belong to the account of its transaction' using errcode = 'integrity_constraint_violation';
  end if;
  if exists (
    select 1 from (select distinct posting_id from added) a
      join ledger_postings p on p.posting_id = a.posting_id
     where p.entries <> (select count(*) from ledger_entries e where e.posting_id = a.posting_id)
        or exists (select 1 from ledger_entries e where e.posting_id = a.posting_id group by e.chain, e.symbol having sum(e.amount) <> 0)
  ) then
    raise exception 'a posting does not balance or is not complete' using errcode = 'integrity_constraint_violation';
  end if;
  if exists (
    select 1 from added a join ledger_postings p on p.posting_id = a.posting_id
     where p.kind in ('lock', 'lock_more', 'unlock') and a.ledger_account_id is null
  ) then
    raise exception 'a hold moves money within its account only' using errcode = 'integrity_constraint_violation';
  end if;
  update ledger_accounts l
     set available = l.available + d.available, locked = l.locked + d.locked
    from (select ledger_account_id,
                 coalesce(sum(amount) filter (where bucket = 'AVAILABLE'), 0) as available,
                 coalesce(sum(amount) filter (where bucket = 'LOCKED'), 0) as locked
            from added where ledger_account_id is not null group by ledger_account_id) d
   where l.ledger_account_id = d.ledger_account_id;
  return null;
end $$;
create trigger ledger_entries_apply after insert on ledger_entries
  referencing new table as added for each statement execute function apply_entries();

-- Writes the entries of a new transaction's lock, within COMMIT: other transactions of the account wait for its ledger accounts only
-- while this one commits, not while a client talks to the server. Their rows are locked in the order of their ids. A frozen account,
-- or one with less available than is taken, makes the commit fail with GW001; the detail lists the accounts.
create function apply_hold() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  posting ledger_postings;
  accounts jsonb;
  covered boolean;
begin
  select * into posting from ledger_postings where tx_id = new.tx_id and kind = 'lock' and at_commit is not null;
  if not found then return null; end if;
  with taken as (
    select ledger_account_id, symbol, -sum(amount) filter (where bucket = 'AVAILABLE') as amount
      from jsonb_to_recordset(posting.at_commit) as l (ledger_account_id uuid, symbol text, bucket text, amount numeric)
     group by ledger_account_id, symbol
  ), locked as materialized (
    select a.ledger_account_id, a.available, a.frozen_reason is not null as frozen from ledger_accounts a
     where a.ledger_account_id = any (array(select ledger_account_id from taken))
     order by a.ledger_account_id for no key update
  )
  select coalesce(bool_and(not frozen and available >= amount), false),
         jsonb_agg(jsonb_build_object('symbol', symbol, 'available', coalesce(available, 0)::text, 'taken', amount::text, 'frozen', frozen))
    into covered, accounts
    from taken left join locked using (ledger_account_id);
  if not covered then
    raise exception 'the accounts do not cover the hold of transaction %', new.tx_id using errcode = 'GW001', detail = accounts::text;
  end if;
  insert into ledger_entries (posting_id, line, ledger_account_id, bucket, chain, symbol, amount)
  select posting.posting_id, l.* from jsonb_to_recordset(posting.at_commit)
    as l (line smallint, ledger_account_id uuid, bucket text, chain text, symbol text, amount numeric);
  return null;
end $$;
-- its name puts it before the other checks at commit
create constraint trigger transactions_apply_hold after insert on transactions
  deferrable initially deferred for each row when (new.is_held) execute function apply_hold();

-- Refuses, at commit, a posting without entries. Postings with entries were checked by apply_entries.
create function check_posting_complete() returns trigger language plpgsql as $$
begin
  if not exists (select 1 from ledger_entries where posting_id = new.posting_id) then
    raise exception 'posting % has no entries', new.posting_id using errcode = 'integrity_constraint_violation';
  end if;
  return null;
end $$;
create constraint trigger ledger_postings_complete after insert on ledger_postings
  deferrable initially deferred for each row execute function check_posting_complete();
`;

/** The ledger: append-only, balanced postings, which alone change balances. */
export class Ledger0007 implements MigrationInterface {
  readonly name = 'Ledger1700000000007';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(schema);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('the ledger is not thrown away by a migration'));
  }
}
