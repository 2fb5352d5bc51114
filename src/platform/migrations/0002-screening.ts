/** Security factors, the clients' whitelist policies, and what screening notes on transactions. */
export const screeningTables = /* sql */ `
alter table clients
  add column whitelist_mode text not null default 'off' check (whitelist_mode in ('off', 'approve', 'only')),
  -- a whitelist entry counts this long after it was added or activated
  add column whitelist_cooling_seconds integer not null default 0 check (whitelist_cooling_seconds between 0 and 2592000);

create table security_factors (
  factor_id uuid primary key,
  client_id uuid not null references clients,
  factor_type text not null check (factor_type in ('WHITELIST', 'BLACKLIST')),
  chain text not null,
  -- as given, and in the form addresses of the chain are compared in
  address text not null check (length(address) between 1 and 255),
  address_key text not null,
  label text not null default '' check (length(label) <= 100),
  reason text not null default '' check (length(reason) <= 255),
  status text not null default 'active' check (status in ('active', 'inactive')),
  added_by uuid not null references users,
  -- when it last became active: the cooling time runs from here
  activated_at timestamptz not null default now(),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  deleted_at timestamptz
);
create unique index security_factors_active on security_factors (client_id, factor_type, chain, address_key)
  where status = 'active' and deleted_at is null;
create index security_factors_by_client on security_factors (client_id, factor_id desc) where deleted_at is null;

-- What the signing nodes copy: per client the version of its blacklist, and for every address the version that last listed it or
-- took it off. A node asks for what is newer than its own version.
create table blacklist_versions (
  client_id uuid primary key references clients,
  version bigint not null check (version > 0),
  -- the newest that the workflow which brings it to the nodes was told of, and when
  dispatched bigint not null default 0,
  told_at timestamptz not null default '-infinity'
);
create index blacklist_versions_due on blacklist_versions (client_id) where dispatched < version;
create index blacklist_versions_told on blacklist_versions (told_at);
create table blacklist_changes (
  client_id uuid not null references clients,
  chain text not null,
  address_key text not null,
  version bigint not null,
  listed boolean not null,
  primary key (client_id, chain, address_key)
);
create unique index blacklist_changes_in_order on blacklist_changes (client_id, version);

alter table transactions
  -- AWAITING_APPROVAL: since when, until when, and who let it go on
  add column approval_expires_at timestamptz,
  add column approved_by uuid references users,
  add column approved_at timestamptz,
  -- when its workflow was told of the approval
  add column approval_told_at timestamptz,
  -- the destination in the form that addresses of the chain are compared in
  add column to_address_key text,
  -- why a no-op uses up its nonce; null: an operator has released it, or none does
  add column burnt_for text check (burnt_for = 'address_blacklisted'),
  -- what screening has to say of a transfer once something of it was signed
  add column screening_note text;
-- every chain so far is an EVM chain
alter table transactions disable trigger user;
update transactions set to_address_key = lower(to_address) where transaction_type = 'OUTBOUND';
alter table transactions enable trigger user;
alter table transactions
  add constraint destination_compared check (transaction_type <> 'OUTBOUND' or to_address_key is not null),
  add constraint awaits_approval check (status <> 'AWAITING_APPROVAL' or (approval_expires_at is not null and approved_at is null)),
  add constraint approved check ((approved_at is null) = (approved_by is null));
-- whom a new entry of a blacklist concerns
create index transfers_open_to on transactions (client_id, chain, to_address_key) where transaction_type = 'OUTBOUND' and ended_at is null;
create index approvals_untold on transactions (approved_at) where approved_at is not null and approval_told_at is null;
`;

/** What holds whatever the code does: no code can forget to say that a blacklisting came too late. */
export const screeningRules = /* sql */ `
create function guard_security_factor() returns trigger language plpgsql as $$
begin
  if (new.client_id, new.factor_type, new.chain, new.address_key) is distinct from
     (old.client_id, old.factor_type, old.chain, old.address_key) then
    raise exception 'what security factor % names cannot change', new.factor_id using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end $$;
create trigger security_factors_guard before update on security_factors for each row execute function guard_security_factor();

-- The version's row makes changes of one client wait for each other: they are numbered in the order in which they commit. By the clock,
-- so that a database restored from a backup uses no number again that the nodes have seen.
create function record_blacklist_change() returns trigger language plpgsql as $$
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

-- Ids of rows written here sort by time, like those of the code (UUID version 7).
create function time_ordered_uuid() returns uuid language sql volatile as $$
  select encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
    placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6), 52, 1), 53, 1), 'hex')::uuid
$$;

-- The note on a transfer whose destination was blacklisted too late, with its audit row.
create function too_late(client uuid, tx uuid, since timestamptz) returns text language plpgsql as $$
declare
  at text := to_char(since at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"');
begin
  insert into audit_events (audit_id, action, outcome, actor_type, actor_id, client_id, subject_type, subject_id, detail)
  values (time_ordered_uuid(), 'transfer.blacklisted_after_broadcast', 'success', 'system', 'screening', client, 'transaction', tx::text,
          jsonb_build_object('blacklisted_at', at));
  return 'blacklisted at ' || at || ', after the transaction had been broadcast: it could not be undone';
end $$;

-- An address is blacklisted: transfers to it that are on their way to the chain can no longer be stopped.
create function note_blacklisting() returns trigger language plpgsql as $$
declare
  late uuid;
begin
  for late in
    select tx_id from transactions t
     where t.transaction_type = 'OUTBOUND' and t.ended_at is null and t.client_id = new.client_id and t.chain = new.chain
       and t.to_address_key = new.address_key and t.burnt_for is null and t.screening_note is null
       and exists (select 1 from transfer_attempts a where a.tx_id = t.tx_id and a.kind <> 'noop' and a.broadcast_at is not null)
     order by tx_id for no key update
  loop
    update transactions set screening_note = too_late(new.client_id, late, new.activated_at) where tx_id = late;
  end loop;
  return null;
end $$;
create trigger security_factors_blacklisted after insert or update of status, deleted_at on security_factors
  for each row when (new.factor_type = 'BLACKLIST' and new.status = 'active' and new.deleted_at is null)
  execute function note_blacklisting();

-- The same from the other side: blacklisted between the last look at the list and the broadcast, or before it settles. A transfer
-- that was to be burnt and is executed all the same has come too late as well.
create function note_submission() returns trigger language plpgsql as $$
declare
  since timestamptz;
begin
  if new.to_address_key is distinct from old.to_address_key then
    raise exception 'the destination of transaction % cannot change', new.tx_id using errcode = 'integrity_constraint_violation';
  end if;
  if new.transaction_type = 'OUTBOUND' and new.status in ('SUBMITTED', 'CONFIRMED') and new.status <> old.status
     and (case when new.burnt_for is null then new.screening_note is null else new.status = 'CONFIRMED' end)
     and exists (select 1 from transfer_attempts a where a.tx_id = new.tx_id and a.kind <> 'noop'
       and (a.broadcast_at is not null or a.block_number is not null)) then
    select activated_at into since from security_factors
     where client_id = new.client_id and factor_type = 'BLACKLIST' and chain = new.chain and address_key = new.to_address_key
       and status = 'active' and deleted_at is null;
    if found then new.screening_note := too_late(new.client_id, new.tx_id, since); end if;
  end if;
  return new;
end $$;
create trigger transactions_screening_note before update on transactions for each row execute function note_submission();
`;
