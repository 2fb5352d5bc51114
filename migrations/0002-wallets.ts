import type { MigrationInterface, QueryRunner } from 'typeorm';

const schema = /* sql */ `
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
-- wallets that wait for their key: counted when a wallet is created and when a generation begins
create index wallets_generating on wallets (client_id, wallet_id) where key_status = 'GENERATING';

create table wallet_limits (
  wallet_id uuid not null references wallets,
  symbol text not null,
  -- in display units: one limit applies to a symbol on every chain, whatever its number of decimals there
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
  -- the address in canonical form, for comparison (EVM: lower case)
  address_key text not null,
  -- the key that signs for the address, its protocol, and the path below it
  key_id text not null,
  key_protocol text not null check (key_protocol in ('ecdsa-secp256k1')),
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
-- who signs: looked up for every reservation
create index accounts_by_address on accounts (address);

-- A wallet's key is written once: addresses derived from it may hold money.
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

-- The address of an account is written once: money may have been sent to it.
create function guard_account() returns trigger language plpgsql as $$
begin
  if (new.account_id, new.wallet_id, new.client_id, new.family, new.address, new.address_key,
      new.key_id, new.key_protocol, new.derivation_path, new.address_index)
     is distinct from (old.account_id, old.wallet_id, old.client_id, old.family, old.address, old.address_key,
      old.key_id, old.key_protocol, old.derivation_path, old.address_index) then
    raise exception 'the address of account % is written once', new.account_id using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end $$;
create trigger accounts_guard before update on accounts for each row execute function guard_account();
`;

/** Wallets with their limits, and accounts. */
export class Wallets0002 implements MigrationInterface {
  readonly name = 'Wallets1700000000002';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(schema);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('wallets are not dropped by a migration'));
  }
}
