/** Rules of transactions that hold whatever the code does: states, their money, and what is written once. */
export const transactionRules = /* sql */ `
-- State and money agree at commit. An open transfer holds exactly its amount and fee bound, and nothing of it has left; an
-- ended one holds nothing; fees left as the transaction says, the token only if it is CONFIRMED. A deposit is credited
-- while it is CONFIRMED. Adjustments by operators stand beside this.
create function check_money_of_transaction() returns trigger language plpgsql as $$
declare
  t transactions;
  holds boolean;
begin
  select * into t from transactions where tx_id = new.tx_id;
  if t.transaction_type not in ('OUTBOUND', 'INBOUND') then return null; end if;
  holds := t.transaction_type = 'OUTBOUND' and t.ended_at is null;
  if exists (
    select 1 from (
      select symbol, sum(held) as held, sum(outside) as outside, sum(fees) as fees from (
        select e.symbol,
               case when e.bucket = 'LOCKED' then e.amount else 0 end as held,
               case when e.bucket = 'CHAIN' then e.amount else 0 end as outside,
               case when e.bucket = 'FEES' then e.amount else 0 end as fees
          from ledger_postings p join ledger_entries e on e.posting_id = p.posting_id
         where p.tx_id = t.tx_id and p.kind <> 'adjustment'
        union all
        select t.token_symbol,
               case when holds then -t.amount else 0 end,
               case when t.transaction_type = 'INBOUND' and t.status = 'CONFIRMED' then t.amount else 0 end,
               0
        union all
        select t.fee_symbol, case when holds then -t.fee_locked else 0 end, 0, case when holds then 0 else -coalesce(t.fee, 0) end
         where t.fee_symbol is not null
      ) lines group by symbol
    ) sums
    where held <> 0 or fees <> 0
       or case when t.transaction_type = 'OUTBOUND' and t.status = 'CONFIRMED' and symbol = t.token_symbol then outside <= 0 else outside <> 0 end
  ) then
    raise exception 'the postings of transaction % do not fit its state %', t.tx_id, t.status using errcode = 'integrity_constraint_violation';
  end if;
  return null;
end $$;
create constraint trigger transactions_money after insert or update on transactions
  deferrable initially deferred for each row execute function check_money_of_transaction();
create constraint trigger ledger_postings_money after insert on ledger_postings
  deferrable initially deferred for each row execute function check_money_of_transaction();

-- Every transaction starts at its beginning.
create function guard_new_transaction() returns trigger language plpgsql as $$
begin
  if new.version <> 0 or new.signing_begun_at is not null or new.ended_at is not null or new.finalized_at is not null or new.fee is not null
     or new.status <> (case when new.transaction_type = 'INBOUND' then 'DETECTED' else 'PENDING' end) then
    raise exception 'transaction % does not start at its beginning', new.tx_id using errcode = 'integrity_constraint_violation';
  end if;
  if new.account_id is not null and not exists (
    select 1 from accounts a join ledger_accounts l on l.account_id = a.account_id
     where a.account_id = new.account_id and a.wallet_id = new.wallet_id and a.client_id = new.client_id
       and l.ledger_account_id = new.asset_id and l.chain = new.chain and l.symbol = new.token_symbol
  ) then
    raise exception 'transaction % names an asset that its account does not hold', new.tx_id using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end $$;
create trigger transactions_start before insert on transactions for each row execute function guard_new_transaction();

-- States: which may follow which; ended states are final; every change counts the version up by one and leaves an event.
create function guard_transaction() returns trigger language plpgsql as $$
declare
  allowed text[];
begin
  if new.status is not distinct from old.status then
    if new.version <> old.version then
      raise exception 'version of % changes with its status only', new.tx_id using errcode = 'integrity_constraint_violation';
    end if;
  else
    allowed := case old.status
      when 'PENDING' then array['AWAITING_APPROVAL', 'SIGNING', 'REJECTED', 'FAILED', 'CANCELLED', 'NEEDS_ATTENTION']
      when 'AWAITING_APPROVAL' then array['PENDING', 'REJECTED', 'CANCELLED']
      when 'SIGNING' then array['SUBMITTED', 'NEEDS_ATTENTION', 'CONFIRMED', 'FAILED']
      when 'SUBMITTED' then array['CONFIRMED', 'FAILED', 'NEEDS_ATTENTION']
      when 'NEEDS_ATTENTION' then array['PENDING', 'SIGNING', 'SUBMITTED', 'CONFIRMED', 'REJECTED', 'FAILED', 'CANCELLED']
      when 'DETECTED' then array['CONFIRMED', 'ORPHANED']
      when 'CONFIRMED' then case when old.transaction_type = 'INBOUND' then array['ORPHANED'] else array[]::text[] end
      else array[]::text[]
    end;
    if not (new.status = any (allowed)) then
      raise exception 'transaction % cannot go from % to %', new.tx_id, old.status, new.status using errcode = 'integrity_constraint_violation';
    end if;
    if new.version <> old.version + 1 then
      raise exception 'a state change of % must count its version up by one', new.tx_id using errcode = 'integrity_constraint_violation';
    end if;
    -- Nothing is unlocked while something signed could still be executed: without an on-chain result a transfer whose
    -- signing has begun cannot end.
    if old.transaction_type = 'OUTBOUND' and new.status in ('REJECTED', 'CANCELLED') and old.signing_begun_at is not null then
      raise exception 'transaction % has begun signing and cannot end unexecuted', new.tx_id using errcode = 'integrity_constraint_violation';
    end if;
    if old.transaction_type = 'OUTBOUND' and new.status = 'FAILED' and old.signing_begun_at is not null and new.block_hash is null then
      raise exception 'transaction % cannot fail without an on-chain result', new.tx_id using errcode = 'integrity_constraint_violation';
    end if;
    -- set here and nowhere else
    new.ended_at := case when new.status in ('CONFIRMED', 'REJECTED', 'FAILED', 'CANCELLED', 'ORPHANED') then now() end;
  end if;
  if new.status is not distinct from old.status and new.ended_at is distinct from old.ended_at then
    raise exception 'the end of transaction % is set by its state', new.tx_id using errcode = 'integrity_constraint_violation';
  end if;
  if old.ended_at is not null and (new.fee, new.fee_locked) is distinct from (old.fee, old.fee_locked) then
    raise exception 'transaction % has ended, its fee is posted', new.tx_id using errcode = 'integrity_constraint_violation';
  end if;
  if (new.client_id, new.wallet_id, new.account_id, new.asset_id, new.chain, new.transaction_type, new.from_address, new.to_address,
      new.token_symbol, new.contract_address, new.decimals, new.amount, new.fee_symbol, new.fee_decimals, new.idempotency_key,
      new.position, new.retry_of, new.created_at)
     is distinct from
     (old.client_id, old.wallet_id, old.account_id, old.asset_id, old.chain, old.transaction_type, old.from_address, old.to_address,
      old.token_symbol, old.contract_address, old.decimals, old.amount, old.fee_symbol, old.fee_decimals, old.idempotency_key,
      old.position, old.retry_of, old.created_at) then
    raise exception 'what transaction % moves cannot change', new.tx_id using errcode = 'integrity_constraint_violation';
  end if;
  if old.signing_begun_at is not null and new.signing_begun_at is distinct from old.signing_begun_at then
    raise exception 'signing of % cannot be undone', new.tx_id using errcode = 'integrity_constraint_violation';
  end if;
  new.updated_at := now();
  return new;
end $$;
create trigger transactions_guard before update on transactions for each row execute function guard_transaction();

create function write_event() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' or new.version <> old.version then
    insert into transaction_events (tx_id, seq, status) values (new.tx_id, new.version, new.status);
  end if;
  return null;
end $$;
create trigger transactions_event after insert or update on transactions for each row execute function write_event();

-- A nonce is taken by a transfer whose signing has begun, for its own address and chain.
create function guard_new_nonce() returns trigger language plpgsql as $$
begin
  if not exists (
    select 1 from transactions t join accounts a on a.account_id = t.account_id
     where t.tx_id = new.tx_id and t.chain = new.chain and a.address_key = new.address_key
       and t.signing_begun_at is not null and t.ended_at is null
  ) then
    raise exception 'nonce % of % is taken only by a transfer of that address whose signing has begun', new.nonce, new.address_key
      using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end $$;
create trigger nonces_taken before insert on nonces for each row execute function guard_new_nonce();

-- What was signed stays: bytes and hash of an attempt are written once.
create function guard_attempt() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    raise exception 'attempts are kept' using errcode = 'integrity_constraint_violation';
  end if;
  if (new.tx_id, new.attempt, new.kind, new.chain, new.from_key, new.nonce, new.unsigned, new.fee_bound)
       is distinct from (old.tx_id, old.attempt, old.kind, old.chain, old.from_key, old.nonce, old.unsigned, old.fee_bound)
     or (old.signed is not null and (new.signed, new.tx_hash) is distinct from (old.signed, old.tx_hash)) then
    raise exception 'attempt % of % is written once', old.attempt, old.tx_id using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end $$;
create trigger transfer_attempts_guard before update or delete on transfer_attempts for each row execute function guard_attempt();
create trigger transfer_attempts_kept before truncate on transfer_attempts for each statement execute function refuse_change();

-- A wallet's key and an account's address are written once: money was sent to them.
create function guard_wallet() returns trigger language plpgsql as $$
begin
  if old.key_status = 'ACTIVE' and (new.key_status, new.key_id, new.public_key, new.chain_code)
     is distinct from (old.key_status, old.key_id, old.public_key, old.chain_code) then
    raise exception 'the key of wallet % is written once', new.wallet_id using errcode = 'integrity_constraint_violation';
  end if;
  if new.client_id <> old.client_id then
    raise exception 'a wallet stays with its client' using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end $$;
create trigger wallets_guard before update on wallets for each row execute function guard_wallet();
create function guard_account() returns trigger language plpgsql as $$
begin
  if (new.account_id, new.wallet_id, new.client_id, new.family, new.address, new.address_key, new.derivation_path, new.address_index)
     is distinct from (old.account_id, old.wallet_id, old.client_id, old.family, old.address, old.address_key, old.derivation_path, old.address_index) then
    raise exception 'the address of account % is written once', new.account_id using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end $$;
create trigger accounts_guard before update on accounts for each row execute function guard_account();
`;
