import type { MigrationInterface, QueryRunner } from 'typeorm';

const schema = /* sql */ `
create table clients (
  client_id uuid primary key,
  name text not null unique check (length(name) between 1 and 100),
  status text not null default 'ACTIVE' check (status in ('ACTIVE', 'DISABLED')),
  whitelist_mode text not null default 'off' check (whitelist_mode in ('off', 'approve', 'only')),
  -- a whitelist entry takes effect this long after it was added or last activated
  whitelist_cooling_seconds integer not null default 0 check (whitelist_cooling_seconds between 0 and 2592000),
  -- whether a user may approve a transfer that the same user requested, although another user of the client could
  self_approval boolean not null default false,
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
  -- SHA-256 of the secret; a slow password hash adds nothing, since the secret is 256 random bits
  secret_hash bytea not null check (length(secret_hash) = 32),
  created_at timestamptz not null default now(),
  revoked_at timestamptz
);

-- Failed logins per client address and per hash of the API key, counted by the rate limiter for all API processes together.
create table login_failures (
  key varchar(255) primary key,
  points integer not null default 0,
  expire bigint
);

-- Second factors of users: time-based one-time passwords.
create table user_totp (
  user_id uuid primary key references users,
  -- encrypted by SecretBox
  secret bytea not null,
  -- null until the user has confirmed the enrolment with a first code; the factor is not in use before
  confirmed_at timestamptz,
  failures integer not null default 0 check (failures >= 0),
  locked_until timestamptz,
  -- locks since the last correct code: each is longer than the one before
  locks integer not null default 0 check (locks >= 0),
  created_at timestamptz not null default now()
);

-- Time steps whose code was accepted, each with the SHA-256 of the request it authorised.
-- No code is accepted for a second request.
create table totp_steps (
  user_id uuid not null references user_totp on delete cascade,
  step bigint not null,
  operation_hash bytea not null check (length(operation_hash) = 32),
  primary key (user_id, step)
);

create table totp_recovery_codes (
  user_id uuid not null references user_totp on delete cascade,
  code_hash bytea not null check (length(code_hash) = 32),
  used_at timestamptz,
  primary key (user_id, code_hash)
);
`;

/** Clients, their users with second factors, API keys and failed logins. */
export class Clients0001 implements MigrationInterface {
  readonly name = 'Clients1700000000001';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(schema);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('clients and users are not dropped by a migration'));
  }
}
