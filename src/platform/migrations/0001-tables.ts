/** Tables and indexes. */
export const tables = /* sql */ `
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

-- Failed logins by key and by address, shared by all API processes; written by the rate limiter.
create table login_failures (
  key varchar(255) primary key,
  points integer not null default 0,
  expire bigint
);
`;
