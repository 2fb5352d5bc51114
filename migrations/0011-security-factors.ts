import type { MigrationInterface, QueryRunner } from 'typeorm';

const schema = /* sql */ `
-- The clients' whitelists and blacklists of addresses.
create table security_factors (
  factor_id uuid primary key,
  client_id uuid not null references clients,
  factor_type text not null check (factor_type in ('WHITELIST', 'BLACKLIST')),
  chain text not null,
  -- address as the client wrote it; address_key in canonical form, for comparison
  address text not null check (length(address) between 1 and 255),
  address_key text not null,
  label text not null default '' check (length(label) <= 100),
  reason text not null default '' check (length(reason) <= 255),
  status text not null default 'active' check (status in ('active', 'inactive')),
  added_by uuid not null references users,
  -- when it last became active: start of the cooling time
  activated_at timestamptz not null default now(),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  deleted_at timestamptz
);
create unique index security_factors_active on security_factors (client_id, factor_type, chain, address_key)
  where status = 'active' and deleted_at is null;
create index security_factors_by_client on security_factors (client_id, factor_id desc) where deleted_at is null;

-- What the signing nodes copy: for each client the version of its blacklist, and for each address the version that last added or
-- removed it. A node asks for all changes newer than its own version.
create table blacklist_versions (
  client_id uuid primary key references clients,
  version bigint not null check (version > 0),
  -- the newest version that the distributing workflow was informed of, and when it was informed
  dispatched bigint not null default 0,
  dispatched_at timestamptz not null default '-infinity'
);
create index blacklist_versions_due on blacklist_versions (client_id) where dispatched < version;
create index blacklist_versions_dispatched_at on blacklist_versions (dispatched_at);

create table blacklist_changes (
  client_id uuid not null references clients,
  chain text not null,
  address_key text not null,
  version bigint not null,
  listed boolean not null,
  primary key (client_id, chain, address_key)
);
create unique index blacklist_changes_in_order on blacklist_changes (client_id, version);

-- The address, chain and type of a security factor never change.
create function guard_security_factor() returns trigger language plpgsql as $$
begin
  if (new.client_id, new.factor_type, new.chain, new.address_key) is distinct from
     (old.client_id, old.factor_type, old.chain, old.address_key) then
    raise exception 'what security factor % names cannot change', new.factor_id using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end $$;
create trigger security_factors_guard before update on security_factors for each row execute function guard_security_factor();

-- Numbers the changes of a blacklist. The row in blacklist_versions serialises the changes of one client, so versions are in
-- commit order. Versions are taken from the clock (milliseconds), so that a database restored from a backup does not reuse a
-- version that the nodes have already seen.
create function record_blacklist_change() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  f security_factors;
  was boolean := coalesce(old.status = 'active' and old.deleted_at is null, false);
  is_now boolean := coalesce(new.status = 'active' and new.deleted_at is null, false);
  next bigint;
begin
  if tg_op = 'DELETE' then f := old; else f := new; end if;
  if f.factor_type <> 'BLACKLIST' or was = is_now then return null; end if;
  insert into blacklist_versions as v (client_id, version) values (f.client_id, (extract(epoch from clock_timestamp()) * 1000)::bigint)
    on conflict (client_id) do update set version = greatest(v.version + 1, (extract(epoch from clock_timestamp()) * 1000)::bigint)
    returning v.version into next;
  insert into blacklist_changes (client_id, chain, address_key, version, listed)
    values (f.client_id, f.chain, f.address_key, next, is_now)
    on conflict (client_id, chain, address_key) do update set version = excluded.version, listed = excluded.listed;
  return null;
end $$;
create trigger security_factors_changed after insert or update or delete on security_factors
  for each row execute function record_blacklist_change();
`;

/** Whitelists and blacklists of addresses, and the numbered blacklist changes that the signing nodes copy. */
export class SecurityFactors0011 implements MigrationInterface {
  readonly name = 'SecurityFactors1700000000011';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(schema);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('security factors are not dropped by a migration'));
  }
}
