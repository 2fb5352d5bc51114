import type { MigrationInterface, QueryRunner } from 'typeorm';

const schema = /* sql */ `
-- What a type of transaction is. Checks, indexes, triggers and queries use these columns of a transaction and never the type's name.
create table transaction_types (
  transaction_type text primary key,
  direction text not null check (direction in ('in', 'out')),
  -- it holds money of its account until it ends
  is_held boolean not null,
  -- it is signed by keys of the gateway
  is_signed boolean not null,
  -- it belongs to the house; null: to the house or to another client
  is_of_house boolean,
  check (direction = 'out' or not (is_held or is_signed)),
  unique (transaction_type, direction, is_held, is_signed)
);
insert into transaction_types (transaction_type, direction, is_held, is_signed, is_of_house) values
  ('OUTBOUND', 'out', true, true, false),
  ('INBOUND', 'in', false, false, null),
  ('X402_SETTLE', 'out', false, true, false),
  ('X402_SIGN', 'out', true, true, false),
  ('GAS_TOPUP', 'out', true, true, true),
  ('GAS', 'out', false, false, true);

create table transactions (
  tx_id uuid primary key,
  client_id uuid not null references clients,
  wallet_id uuid references wallets,
  account_id uuid references accounts,
  asset_id uuid references ledger_accounts,
  chain text not null,
  transaction_type text not null,
  -- repeated from transaction_types
  direction text not null,
  is_held boolean not null,
  is_signed boolean not null,
  from_address text not null,
  -- who signs; null: from_address
  sender_address text,
  to_address text not null,
  -- to_address in canonical form, for comparison with address lists
  to_address_key text,
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
  -- counts state changes; every change is a compare-and-set on this column
  version integer not null default 0 check (version >= 0),
  signing_begun_at timestamptz,
  tx_hash text,
  -- of a deposit: place within the transaction, in the chain's own terms
  position text,
  block_number bigint,
  block_hash text,
  required_confirmations integer not null check (required_confirmations >= 1),
  memo text check (length(memo) <= 100),
  failure_code text,
  failure_message text,
  idempotency_key text,
  -- the user whose API key requested it; null for transactions that no user requested, such as deposits
  requested_by uuid,
  -- AWAITING_APPROVAL: when the approval expires, who approved, and when
  approval_expires_at timestamptz,
  approved_by uuid references users,
  approved_at timestamptz,
  -- why a cancellation transaction is to use up the reservation; null: no cancellation, or one that an operator ordered
  cancellation_reason text check (cancellation_reason in ('address_blacklisted', 'node_policy', 'abandoned', 'expired')),
  -- result of screening after something of the transfer was signed
  screening_note text,
  -- the transaction that this one serves (gas of a settlement)
  parent_tx_id uuid references transactions,
  request_id text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  ended_at timestamptz,
  -- set once the block that includes it has reached finality depth; the follower no longer watches it
  finalized_at timestamptz,
  foreign key (transaction_type, direction, is_held, is_signed) references transaction_types (transaction_type, direction, is_held, is_signed),
  check ((direction = 'in') = (position is not null)),
  check (direction <> 'in' or (tx_hash is not null and block_hash is not null)),
  check (not (is_held or direction = 'in') or (wallet_id is not null and account_id is not null and asset_id is not null)),
  check (not is_held or (fee_symbol is not null and fee_decimals is not null)),
  check ((block_number is null) = (block_hash is null)),
  check (not is_held or amount > 0),
  constraint destination_compared check (not is_held or to_address_key is not null),
  constraint awaits_approval check (status <> 'AWAITING_APPROVAL' or (approval_expires_at is not null and approved_at is null)),
  constraint approved check ((approved_at is null) = (approved_by is null)),
  -- what holds nothing and moves nothing is confirmed without a transaction of the chain
  constraint signing_has_begun check (not is_signed or status not in ('SIGNING', 'SUBMITTED', 'CONFIRMED') or signing_begun_at is not null
    or (status = 'CONFIRMED' and not is_held and amount = 0)),
  constraint signing_not_begun check (status not in ('PENDING', 'AWAITING_APPROVAL', 'REJECTED', 'CANCELLED') or signing_begun_at is null),
  constraint confirmed_by_chain check (not is_signed or status <> 'CONFIRMED' or (not is_held and amount = 0)
    or (tx_hash is not null and block_hash is not null and fee is not null))
);
create index transactions_by_client on transactions (client_id, tx_id desc);
create index transactions_by_wallet on transactions (wallet_id, tx_id desc);
create index transactions_by_account on transactions (account_id, tx_id desc);
-- an idempotency key makes at most one transfer, without a time limit
create unique index transfers_by_idempotency_key on transactions (client_id, idempotency_key)
  where is_held and idempotency_key is not null;
-- a deposit is credited once, identified by its position on the chain
create unique index deposits_by_place on transactions (chain, tx_hash, position)
  where direction = 'in' and status <> 'ORPHANED';
-- what a settlement has cost is charged once
create unique index gas_by_parent on transactions (parent_tx_id) where direction = 'out' and not is_held and not is_signed;
create index transactions_open on transactions (chain, status) where ended_at is null;
create index deposits_detected on transactions (chain, block_number) where status = 'DETECTED';
create index deposits_by_block on transactions (chain, block_number) where direction = 'in' and status in ('DETECTED', 'CONFIRMED');
-- for the rolling sum that a daily limit is compared with
create index transfers_by_wallet_and_token on transactions (wallet_id, token_symbol, created_at) where is_held;
create index transactions_unfinalized on transactions (chain, block_number) where finalized_at is null and block_number is not null;
-- open transfers that a new blacklist entry affects
create index transfers_open_to on transactions (client_id, chain, to_address_key) where is_held and ended_at is null;

-- direction, is_held and is_signed come from transaction_types. Runs before transactions_start: triggers run in the order of their names.
create function classify_transaction() returns trigger language plpgsql as $$
begin
  select direction, is_held, is_signed into new.direction, new.is_held, new.is_signed
    from transaction_types where transaction_type = new.transaction_type;
  return new;
end $$;
create trigger transactions_classify before insert on transactions for each row execute function classify_transaction();

-- State history of every transaction, written by a trigger together with the change itself.
create table transaction_events (
  tx_id uuid not null references transactions,
  seq integer not null,
  status text not null,
  at timestamptz not null default clock_timestamp(),
  primary key (tx_id, seq)
);

-- For tables whose rows are never changed or deleted; also used by the ledger and the audit log.
create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name using errcode = 'integrity_constraint_violation';
end $$;
create trigger transaction_types_append_only before update or delete or truncate on transaction_types for each statement execute function refuse_change();
create trigger transactions_kept before delete or truncate on transactions for each statement execute function refuse_change();
create trigger transaction_events_append_only before update or delete or truncate on transaction_events for each statement execute function refuse_change();
`;

/** Transactions of every kind, and the history of their states. */
export class Transactions0004 implements MigrationInterface {
  readonly name = 'Transactions1700000000004';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(schema);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('transactions are not dropped by a migration'));
  }
}
