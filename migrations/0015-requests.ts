import type { MigrationInterface, QueryRunner } from 'typeorm';

const schema = /* sql */ `
-- Requests by idempotency key, with the response that a repeated request receives.
create table idempotency_keys (
  client_id uuid not null references clients,
  key text not null check (length(key) between 1 and 255),
  -- SHA-256 of method, path and body
  fingerprint bytea not null,
  -- id of the resource to create, chosen by the first request and reused when another process takes the request over
  resource_id uuid not null,
  leased_until timestamptz not null,
  response_status integer,
  response_headers jsonb,
  response_body jsonb,
  created_at timestamptz not null default now(),
  primary key (client_id, key)
);
create index idempotency_keys_by_age on idempotency_keys (created_at);

-- Requests of the current window per client and per address, counted by the rate limiter for all API processes together.
-- Unlogged: counting does not wait for the write-ahead log; after a crash all counts start at zero.
create unlogged table request_quotas (
  key varchar(255) primary key,
  points integer not null default 0,
  expire bigint
);
`;

/** Idempotency keys and request quotas. */
export class Requests0015 implements MigrationInterface {
  readonly name = 'Requests1700000000015';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(schema);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('idempotency keys are not dropped by a migration'));
  }
}
