import type { MigrationInterface, QueryRunner } from 'typeorm';
import { houseClientId } from '../src/platform/house';
import { toGrants } from './grants';
import { settlerRights } from './rights';

const schema = /* sql */ `
-- Accounts of the house that send what others have signed, and pay the network for it.
create table settlers (
  settler_id uuid primary key,
  chain text not null,
  account_id uuid not null unique references accounts,
  address_key text not null,
  -- DRAINING: takes nothing new, and finishes what it has
  status text not null default 'ACTIVE' check (status in ('ACTIVE', 'DRAINING')),
  -- the one that payers are told to name, where what they sign names who may settle it
  is_primary boolean not null default false,
  created_at timestamptz not null default now(),
  unique (chain, address_key),
  check (not is_primary or status = 'ACTIVE')
);
create unique index settlers_one_primary on settlers (chain) where is_primary;

create function guard_settler() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' and not exists (
    select from accounts a join wallets w on w.wallet_id = a.wallet_id
     where a.account_id = new.account_id and a.client_id = '${houseClientId}' and w.client_id = a.client_id
       and (a.chain, a.address_key) = (new.chain, new.address_key)
  ) then
    raise exception 'settler % names no account of the house on %', new.settler_id, new.chain using errcode = 'integrity_constraint_violation';
  end if;
  if tg_op = 'UPDATE' and (new.settler_id, new.chain, new.account_id, new.address_key, new.created_at)
     is distinct from (old.settler_id, old.chain, old.account_id, old.address_key, old.created_at) then
    raise exception 'the account of settler % cannot change', old.settler_id using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end $$;
create trigger settlers_guard before insert or update on settlers for each row execute function guard_settler();
create trigger settlers_kept before delete or truncate on settlers for each statement execute function refuse_change();
`;

/** The accounts that settle payments which others have signed. */
export class Settlers0022 implements MigrationInterface {
  readonly name = 'Settlers1700000000022';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [schema, ...toGrants(settlerRights)]) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('settlers are not dropped by a migration: their accounts hold money'));
  }
}
