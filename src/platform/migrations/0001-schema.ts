import type { MigrationInterface, QueryRunner } from 'typeorm';

const schema = /* sql */ `
create table clients (
  client_id uuid primary key,
  name text not null unique check (length(name) between 1 and 100),
  status text not null default 'ACTIVE' check (status in ('ACTIVE', 'DISABLED')),
  created_at timestamptz not null default now()
);

create table users (
  user_id uuid primary key,
  client_id uuid not null references clients,
  name text not null check (length(name) between 1 and 100),
  status text not null default 'ACTIVE' check (status in ('ACTIVE', 'DISABLED')),
  created_at timestamptz not null default now(),
  unique (client_id, name)
);

create table api_keys (
  key_id uuid primary key,
  client_id uuid not null references clients,
  user_id uuid not null references users,
  api_key text not null unique,
  -- sha256 of a 256-bit random secret: nothing to stretch, and look-ups cost the same for every caller
  secret_hash bytea not null check (length(secret_hash) = 32),
  created_at timestamptz not null default now(),
  revoked_at timestamptz
);

create table wallets (
  wallet_id uuid primary key,
  client_id uuid not null references clients,
  wallet_name text not null check (length(wallet_name) between 1 and 100),
  description text check (length(description) <= 500),
  status text not null default 'PROGRESSING' check (status in ('PROGRESSING', 'ACTIVE', 'SUSPENDED')),
  key_status text not null default 'GENERATING' check (key_status in ('GENERATING', 'ACTIVE')),
  key_id text unique,
  public_key bytea check (length(public_key) = 33),
  chain_code bytea check (length(chain_code) = 32),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check ((key_status = 'ACTIVE') = (key_id is not null and public_key is not null and chain_code is not null)),
  check (status <> 'ACTIVE' or key_status = 'ACTIVE')
);
create index wallets_by_client on wallets (client_id, wallet_id desc);

create table wallet_limits (
  wallet_id uuid not null references wallets,
  symbol text not null,
  -- display units: one limit holds for a symbol on every chain, whatever its decimals
  max_single numeric check (max_single >= 0),
  max_daily numeric check (max_daily >= 0),
  updated_at timestamptz not null default now(),
  primary key (wallet_id, symbol)
);

create table accounts (
  account_id uuid primary key,
  wallet_id uuid not null references wallets,
  client_id uuid not null references clients,
  family text not null,
  chain text not null,
  network text not null,
  address text not null,
  -- canonical form for comparison (EVM: lower case)
  address_key text not null,
  derivation_path text not null,
  address_index integer not null check (address_index >= 0),
  address_type text not null default 'INBOUND' check (address_type in ('INBOUND')),
  status text not null default 'ACTIVE' check (status in ('ACTIVE', 'INACTIVE')),
  label text check (length(label) <= 100),
  created_at timestamptz not null default now(),
  unique (family, address_key),
  unique (wallet_id, family, address_index)
);
create index accounts_by_client on accounts (client_id, account_id desc);
create index accounts_by_wallet on accounts (wallet_id, account_id desc);

-- One row per (account, chain, token), made by the first posting or by POST /assets; its id is the asset_id.
-- available and locked are kept by a trigger on ledger_entries: they always are the sums of postings.
create table ledger_accounts (
  ledger_account_id uuid primary key,
  account_id uuid not null references accounts,
  wallet_id uuid not null references wallets,
  client_id uuid not null references clients,
  chain text not null,
  symbol text not null,
  decimals smallint not null check (decimals between 0 and 36),
  contract_address text,
  available numeric(78,0) not null default 0 check (available >= 0),
  locked numeric(78,0) not null default 0 check (locked >= 0),
  -- set with an alert when a fact from the chain left a shortfall: no transfer leaves until an operator clears it
  frozen_reason text,
  created_at timestamptz not null default now(),
  unique (account_id, chain, symbol)
);
create index ledger_accounts_by_client on ledger_accounts (client_id, ledger_account_id desc);

-- The client's view: which ledger accounts it has added.
create table assets (
  asset_id uuid primary key references ledger_accounts,
  account_id uuid not null references accounts,
  wallet_id uuid not null references wallets,
  client_id uuid not null references clients,
  is_active boolean not null default true,
  created_at timestamptz not null default now()
);
create index assets_by_client on assets (client_id, asset_id desc);

create table transactions (
  tx_id uuid primary key,
  client_id uuid not null references clients,
  wallet_id uuid references wallets,
  account_id uuid references accounts,
  asset_id uuid references ledger_accounts,
  chain text not null,
  transaction_type text not null check (transaction_type in ('OUTBOUND', 'INBOUND', 'GAS')),
  from_address text not null,
  to_address text not null,
  token_symbol text not null,
  contract_address text,
  decimals smallint not null,
  amount numeric(78,0) not null check (amount >= 0),
  fee_symbol text,
  fee_decimals smallint,
  fee_locked numeric(78,0) not null default 0 check (fee_locked >= 0),
  fee numeric(78,0) check (fee >= 0),
  status text not null check (status in ('PENDING', 'AWAITING_APPROVAL', 'SIGNING', 'SUBMITTED', 'NEEDS_ATTENTION',
    'CONFIRMED', 'REJECTED', 'FAILED', 'CANCELLED', 'DETECTED', 'ORPHANED')),
  -- counts state changes; every change is a compare-and-set on it
  version integer not null default 0 check (version >= 0),
  signing_begun_at timestamptz,
  tx_hash text,
  -- INBOUND: place within the receipt (0 = the transaction's own value, n + 1 = n-th log)
  position integer,
  block_number bigint,
  block_hash text,
  required_confirmations integer not null check (required_confirmations >= 1),
  memo text check (length(memo) <= 100),
  failure_code text,
  failure_message text,
  idempotency_key text,
  retry_of uuid references transactions,
  request_id text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  ended_at timestamptz,
  -- set once the block that confirmed it is at finality depth: the follower stops watching
  finalized_at timestamptz,
  check ((transaction_type = 'INBOUND') = (position is not null)),
  check (transaction_type <> 'INBOUND' or (tx_hash is not null and block_hash is not null)),
  check (transaction_type not in ('OUTBOUND', 'INBOUND') or (wallet_id is not null and account_id is not null and asset_id is not null)),
  check (transaction_type <> 'OUTBOUND' or (fee_symbol is not null and fee_decimals is not null)),
  check ((block_number is null) = (block_hash is null)),
  check (transaction_type <> 'OUTBOUND' or amount > 0),
  constraint signing_has_begun check (transaction_type <> 'OUTBOUND' or status not in ('SIGNING', 'SUBMITTED', 'CONFIRMED') or signing_begun_at is not null),
  constraint signing_not_begun check (status not in ('PENDING', 'AWAITING_APPROVAL', 'REJECTED', 'CANCELLED') or signing_begun_at is null),
  constraint confirmed_by_chain check (transaction_type <> 'OUTBOUND' or status <> 'CONFIRMED' or (tx_hash is not null and block_hash is not null and fee is not null))
);
create index transactions_by_client on transactions (client_id, tx_id desc);
create index transactions_by_wallet on transactions (wallet_id, tx_id desc);
create index transactions_by_account on transactions (account_id, tx_id desc);
-- a key pays once, for ever
create unique index transfers_by_idempotency_key on transactions (client_id, idempotency_key)
  where transaction_type = 'OUTBOUND' and idempotency_key is not null;
-- a deposit is credited once, by its place on the chain
create unique index deposits_by_place on transactions (chain, tx_hash, position)
  where transaction_type = 'INBOUND' and status <> 'ORPHANED';
create index transactions_open on transactions (chain, status) where ended_at is null;
create index deposits_detected on transactions (chain, block_number) where status = 'DETECTED';
create index deposits_by_block on transactions (chain, block_number) where transaction_type = 'INBOUND' and status in ('DETECTED', 'CONFIRMED');
-- the rolling sum behind a daily limit
create index transfers_by_wallet_and_token on transactions (wallet_id, token_symbol, created_at) where transaction_type = 'OUTBOUND';
create index transactions_unfinalized on transactions (chain, block_number) where finalized_at is null and block_number is not null;

-- Timeline of every transaction and, at once, the outbox of its events: written by trigger with the change itself.
create table transaction_events (
  tx_id uuid not null references transactions,
  seq integer not null,
  status text not null,
  at timestamptz not null default clock_timestamp(),
  primary key (tx_id, seq)
);

-- A nonce is a row: taken in the transaction that begins signing, never given back after it.
create table nonces (
  chain text not null,
  address_key text not null,
  nonce bigint not null check (nonce >= 0),
  tx_id uuid not null references transactions,
  taken_at timestamptz not null default now(),
  primary key (chain, address_key, nonce),
  unique (tx_id),
  unique (chain, address_key, nonce, tx_id)
);

-- Signed or to-be-signed transactions of a transfer. All attempts of one transfer share its nonce.
create table transfer_attempts (
  tx_id uuid not null references transactions,
  attempt integer not null check (attempt >= 1),
  kind text not null check (kind in ('first', 'replacement', 'noop')),
  chain text not null,
  from_key text not null,
  nonce bigint not null,
  unsigned text not null,
  -- highest network fee of these bytes, L1 data fee included
  fee_bound numeric(78,0) not null check (fee_bound >= 0),
  tx_hash text,
  signed text,
  signing_begun_at timestamptz not null default clock_timestamp(),
  signed_at timestamptz,
  broadcast_at timestamptz,
  -- last inclusion seen, null again after a reorg
  block_number bigint,
  block_hash text,
  success boolean,
  fee numeric(78,0),
  debited numeric(78,0),
  received numeric(78,0),
  primary key (tx_id, attempt),
  unique (chain, tx_hash),
  foreign key (chain, from_key, nonce, tx_id) references nonces (chain, address_key, nonce, tx_id),
  check ((tx_hash is null) = (signed is null)),
  check ((signed_at is null) = (signed is null)),
  -- nothing is broadcast before its bytes are on record, and nothing else can be included
  check (signed is not null or (broadcast_at is null and block_number is null)),
  check ((block_number is null) = (block_hash is null)),
  check (block_number is null or (success is not null and fee is not null))
);
create index transfer_attempts_open on transfer_attempts (chain) where tx_hash is not null and block_number is null;

create table ledger_postings (
  posting_id uuid primary key,
  tx_id uuid not null references transactions,
  kind text not null check (kind in ('lock', 'lock_more', 'unlock', 'settle', 'refund', 'deposit', 'deposit_reversal', 'adjustment')),
  -- the transaction's version when it was written; lock_more: the attempt it was locked for
  seq integer not null,
  -- how many entries it has: all come with one statement, none can follow
  entries smallint not null check (entries >= 2),
  created_at timestamptz not null default now(),
  unique (tx_id, kind, seq)
);
-- money moves once: one posting locks, one releases or spends, one credits, one takes a credit back
create unique index postings_that_lock on ledger_postings (tx_id) where kind = 'lock';
create unique index postings_that_end on ledger_postings (tx_id) where kind in ('unlock', 'settle', 'refund');
create unique index postings_that_credit on ledger_postings (tx_id) where kind = 'deposit';
create unique index postings_that_reverse on ledger_postings (tx_id) where kind = 'deposit_reversal';

create table ledger_entries (
  posting_id uuid not null references ledger_postings,
  line smallint not null,
  ledger_account_id uuid references ledger_accounts,
  -- AVAILABLE and LOCKED belong to a client's account; the others to the house: CHAIN is the world outside,
  -- FEES what the network took, LOSS shortfalls that facts from the chain forced
  bucket text not null check (bucket in ('AVAILABLE', 'LOCKED', 'CHAIN', 'FEES', 'LOSS')),
  chain text not null,
  symbol text not null,
  amount numeric(78,0) not null check (amount <> 0),
  primary key (posting_id, line),
  check ((ledger_account_id is not null) = (bucket in ('AVAILABLE', 'LOCKED')))
);
create index ledger_entries_by_account on ledger_entries (ledger_account_id);

create table chain_cursors (
  chain text primary key,
  chain_id bigint not null,
  -- the next block to scan
  next_block bigint not null,
  head_block bigint not null,
  base_fee numeric(78,0),
  priority_fee numeric(78,0),
  gas_price numeric(78,0) not null,
  l1_data_fee numeric(78,0) not null default 0,
  updated_at timestamptz not null default now()
);

-- Scanned blocks down to finality depth: how a reorg is noticed.
create table chain_blocks (
  chain text not null,
  number bigint not null,
  hash text not null,
  parent_hash text not null,
  primary key (chain, number)
);

create table idempotency_keys (
  client_id uuid not null references clients,
  key text not null check (length(key) between 1 and 255),
  -- sha256 over method, path and body
  fingerprint bytea not null,
  -- the id the request creates under, fixed by the first request: a take-over uses it again
  resource_id uuid not null,
  leased_until timestamptz not null,
  response_status integer,
  response_headers jsonb,
  response_body jsonb,
  created_at timestamptz not null default now(),
  primary key (client_id, key)
);
create index idempotency_keys_by_age on idempotency_keys (created_at);
`;

/** Rules that hold whatever the code does: see ARCHITECTURE.md, "What always holds". */
const rules = /* sql */ `
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

export class Schema0001 implements MigrationInterface {
  readonly name = 'Schema1700000000001';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(schema);
    await runner.query(rules);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop schema public cascade; create schema public');
  }
}
