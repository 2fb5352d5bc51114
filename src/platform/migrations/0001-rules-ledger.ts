/** Rules of the ledger that hold whatever the code does: append-only, balanced postings that alone move balances. */
export const ledgerRules = /* sql */ `
create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name using errcode = 'integrity_constraint_violation';
end $$;
create trigger ledger_postings_append_only before update or delete or truncate on ledger_postings for each statement execute function refuse_change();
create trigger ledger_entries_append_only before update or delete or truncate on ledger_entries for each statement execute function refuse_change();
create trigger transaction_events_append_only before update or delete or truncate on transaction_events for each statement execute function refuse_change();
create trigger transactions_kept before delete or truncate on transactions for each statement execute function refuse_change();
create trigger nonces_append_only before update or delete or truncate on nonces for each statement execute function refuse_change();

-- Entries come a whole posting at a time: balanced per chain and symbol, on accounts of the transaction's own account.
-- Balances are sums of entries, and nothing else moves them.
create function apply_entries() returns trigger language plpgsql as $$
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

create function guard_ledger_account() returns trigger language plpgsql as $$
begin
  -- depth 1 is a statement of a client, depth 2 the update by apply_entries
  if (new.available, new.locked) is distinct from (old.available, old.locked) and pg_trigger_depth() < 2 then
    raise exception 'balances change by ledger entries only' using errcode = 'integrity_constraint_violation';
  end if;
  if (new.ledger_account_id, new.account_id, new.wallet_id, new.client_id, new.chain, new.symbol, new.decimals, new.contract_address)
     is distinct from
     (old.ledger_account_id, old.account_id, old.wallet_id, old.client_id, old.chain, old.symbol, old.decimals, old.contract_address) then
    raise exception 'what a ledger account holds cannot change' using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end $$;
create trigger ledger_accounts_guard before update on ledger_accounts for each row execute function guard_ledger_account();
create function guard_new_ledger_account() returns trigger language plpgsql as $$
begin
  if new.available <> 0 or new.locked <> 0 then
    raise exception 'a ledger account starts empty' using errcode = 'integrity_constraint_violation';
  end if;
  if not exists (select 1 from accounts a where a.account_id = new.account_id and a.wallet_id = new.wallet_id and a.client_id = new.client_id) then
    raise exception 'a ledger account belongs to the wallet and client of its account' using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end $$;
create trigger ledger_accounts_start_empty before insert on ledger_accounts for each row execute function guard_new_ledger_account();

-- A posting without entries; those that have some were checked as they came.
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
