import type { MigrationInterface, QueryRunner } from 'typeorm';

const schema = /* sql */ `
-- One row per account, chain and token, created by the first posting or by POST /assets; its id is the asset_id.
-- available and locked are maintained by a trigger on ledger_entries and always equal the sums of the entries.
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
  -- set, with an alert, when an event on the chain left a shortfall; no transfer is sent until an operator clears it
  frozen_reason text,
  created_at timestamptz not null default now(),
  unique (account_id, chain, symbol)
);
create index ledger_accounts_by_client on ledger_accounts (client_id, ledger_account_id desc);

-- The ledger accounts that the client has added as assets.
create table assets (
  asset_id uuid primary key references ledger_accounts,
  account_id uuid not null references accounts,
  wallet_id uuid not null references wallets,
  client_id uuid not null references clients,
  is_active boolean not null default true,
  created_at timestamptz not null default now()
);
create index assets_by_client on assets (client_id, asset_id desc);

create function guard_ledger_account() returns trigger language plpgsql as $$
begin
  -- trigger depth 1: an update sent by a client; depth 2: the update made by apply_entries
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
`;

/** Ledger accounts, which hold the balances, and the assets that clients see. */
export class Assets0003 implements MigrationInterface {
  readonly name = 'Assets1700000000003';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(schema);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('balances are not dropped by a migration'));
  }
}
