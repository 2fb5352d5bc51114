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

alter table transactions
  -- AWAITING_APPROVAL: since when, until when, and who let it go on
  add column approval_expires_at timestamptz,
  add column approved_by uuid references users,
  add column approved_at timestamptz,
  -- what screening has to say of a transfer that it could not stop any more
  add column screening_note text;
`;
