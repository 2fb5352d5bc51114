import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The logins of the processes. The owner of the tables, gateway_owner, is the login that runs the migrations; it needs no grants.
 * gateway_authoriser alone begins attempts.
 */
export const logins = ['gateway_api', 'gateway_worker', 'gateway_authoriser', 'gateway_operator'] as const;
export type Login = (typeof logins)[number];

/**
 * Which login may do what. `update (…)` names the columns; what is not named is never written after its insert. `lock` is the right to
 * lock rows: update of row_lock, a column that is always null. What triggers write in other tables is written by the owner.
 */
export const rights: Record<string, Partial<Record<Login, string>>> = {
  clients: {
    gateway_api: 'select, lock',
    gateway_worker: 'select',
    gateway_authoriser: 'select',
    gateway_operator: 'select, insert, update (status, whitelist_mode, whitelist_cooling_seconds, self_approval)',
  },
  users: { gateway_api: 'select', gateway_operator: 'select, insert, update (status)' },
  api_keys: { gateway_api: 'select', gateway_operator: 'select, insert, update (revoked_at)' },
  login_failures: { gateway_api: 'select, insert, update (points, expire), delete' },
  user_totp: {
    gateway_api: 'select, update (failures, locked_until, locks)',
    gateway_operator: 'select, insert, update (secret, confirmed_at, failures, locked_until, locks, created_at), delete',
  },
  totp_steps: { gateway_api: 'select, insert, delete', gateway_operator: 'select, insert, delete' },
  totp_recovery_codes: { gateway_operator: 'select, insert, update (used_at), delete' },

  wallets: {
    gateway_api: 'select, insert, lock',
    gateway_worker: 'select, update (status, key_status, key_id, public_key, chain_code, updated_at)',
    gateway_authoriser: 'select',
    gateway_operator: 'select, update (status, updated_at)',
  },
  wallet_limits: {
    gateway_api: 'select, lock',
    gateway_authoriser: 'select',
    gateway_operator: 'select, insert, update (max_single, max_daily, updated_at), delete',
  },
  accounts: {
    gateway_api: 'select, insert',
    gateway_worker: 'select',
    gateway_authoriser: 'select, lock',
    gateway_operator: 'select, update (status)',
  },
  ledger_accounts: {
    gateway_api: 'select, insert, lock',
    gateway_worker: 'select, insert, update (frozen_reason)',
    gateway_authoriser: 'select, lock',
    gateway_operator: 'select, update (frozen_reason)',
  },
  assets: { gateway_api: 'select, insert', gateway_operator: 'select' },

  transaction_types: {
    gateway_api: 'select',
    gateway_worker: 'select',
    gateway_authoriser: 'select',
    gateway_operator: 'select',
  },
  transactions: {
    gateway_api:
      'select, insert, update (status, version, approval_expires_at, approved_by, approved_at, failure_code, failure_message)',
    gateway_worker: `select, insert, update (status, version, tx_hash, block_number, block_hash, fee, failure_code, failure_message,
      approval_expires_at, cancellation_reason, screening_note, finalized_at)`,
    gateway_authoriser: `select, update (status, version, signing_begun_at, fee_locked, failure_code, failure_message,
      cancellation_reason, screening_note)`,
    gateway_operator: 'select',
  },
  transaction_events: {
    gateway_api: 'select',
    gateway_worker: 'select',
    gateway_authoriser: 'select',
    gateway_operator: 'select',
  },
  reservations: {
    gateway_api: 'select',
    gateway_worker: 'select, update (released_at)',
    gateway_authoriser: 'select, insert',
    gateway_operator: 'select',
  },
  transfer_attempts: {
    gateway_api: 'select',
    gateway_worker: `select, update (tx_hash, signed, signed_at, broadcast_at, impossible_proof, block_number, block_hash, included_id,
      success, fee, debited, received)`,
    gateway_authoriser: 'select, insert',
    gateway_operator: 'select',
  },
  attempt_reservations: {
    gateway_api: 'select',
    gateway_worker: 'select',
    gateway_authoriser: 'select, insert',
    gateway_operator: 'select',
  },
  attempt_ids: {
    gateway_api: 'select',
    gateway_worker: 'select, insert',
    gateway_authoriser: 'select',
    gateway_operator: 'select',
  },
  ledger_postings: {
    gateway_api: 'select, insert',
    gateway_worker: 'select, insert',
    gateway_authoriser: 'select, insert',
    gateway_operator: 'select',
  },
  ledger_entries: {
    gateway_api: 'select, insert',
    gateway_worker: 'select, insert',
    gateway_authoriser: 'select, insert',
    gateway_operator: 'select',
  },
  operator_requests: {
    gateway_api: 'select',
    gateway_worker: 'select',
    gateway_authoriser: 'select',
    gateway_operator: 'select, insert',
  },

  chain_cursors: {
    gateway_api: 'select',
    gateway_worker: 'select, insert, update (next_block, head_block, fee_levels, fee_levels_at, updated_at)',
    gateway_authoriser: 'select',
    gateway_operator: 'select',
  },
  chain_blocks: { gateway_worker: 'select, insert, update (hash, parent_hash), delete', gateway_operator: 'select' },

  audit_events: {
    gateway_api: 'select, insert',
    gateway_worker: 'insert',
    gateway_authoriser: 'insert',
    gateway_operator: 'select, insert',
  },
  audit_pending: { gateway_api: 'select, delete', gateway_operator: 'select' },
  audit_seals: { gateway_api: 'select, insert', gateway_operator: 'select' },
  audit_seal_entries: { gateway_api: 'select, insert', gateway_operator: 'select' },

  security_factors: {
    gateway_api: 'select, insert, update (status, label, reason, activated_at, updated_at, deleted_at)',
    gateway_worker: 'select',
    gateway_authoriser: 'select',
    gateway_operator: 'select',
  },
  blacklist_versions: { gateway_worker: 'select, update (dispatched, told_at)', gateway_operator: 'select' },
  blacklist_changes: { gateway_worker: 'select', gateway_operator: 'select' },

  webhook_endpoints: {
    gateway_api: `select, insert, update (url, description, events, status, disabled_reason, disabled_at, secret, secret_created_by,
      previous_secret, previous_secret_until, failing_since, updated_at, deleted_at)`,
    gateway_worker:
      'select, update (status, disabled_reason, disabled_at, previous_secret, previous_secret_until, failing_since, updated_at)',
    gateway_operator: 'select, update (secret, previous_secret)',
  },
  webhook_events: { gateway_api: 'select, insert', gateway_worker: 'select, delete' },
  webhook_deliveries: {
    gateway_api: 'select, insert, update (status, round_attempts, next_attempt_at, undispatched_since, ended_at)',
    gateway_worker: 'select, update (status, attempts, round_attempts, next_attempt_at, undispatched_since, ended_at)',
  },
  webhook_attempts: { gateway_api: 'select', gateway_worker: 'select, insert' },

  idempotency_keys: {
    gateway_api: `select, insert, update (fingerprint, resource_id, leased_until, response_status, response_headers, response_body,
      created_at), delete`,
  },
  request_quotas: { gateway_api: 'select, insert, update (points, expire), delete' },
  workflow_outbox: {
    gateway_api: 'select, insert, delete',
    gateway_worker: 'select, insert, update (deliver_after), delete',
    gateway_authoriser: 'select, insert',
  },
};

/**
 * Until a process of its own begins attempts, the worker does it: it has the rights of gateway_authoriser, by this statement alone.
 */
const untilTheAuthoriserRuns = 'grant gateway_authoriser to gateway_worker';

/** Roles are created without a password, with which nobody can log in by password: whoever runs the database sets one. */
const createRole = (login: Login): string => `
do $$ begin
  if not exists (select from pg_roles where rolname = '${login}') then create role ${login} login; end if;
end $$`;

const toGrant = (table: string, login: Login, granted: string): string =>
  `grant ${granted.replace('lock', 'update (row_lock)')} on ${table} to ${login}`;

const grants = Object.entries(rights).flatMap(([table, byLogin]) =>
  logins.flatMap((login) => (byLogin[login] === undefined ? [] : [toGrant(table, login, byLogin[login])])),
);

const others = [
  `do $$ begin execute format('grant connect on database %I to ${logins.join(', ')}', current_database()); end $$`,
  `grant usage on schema public to ${logins.join(', ')}`,
  // it writes as the owner: only who has no trigger for it calls it itself
  'revoke execute on function enqueue_webhook_event(uuid, text, uuid, jsonb) from public',
  'grant execute on function enqueue_webhook_event(uuid, text, uuid, jsonb) to gateway_worker',
];

/** The database logins of the processes and their rights. */
export class Logins0018 implements MigrationInterface {
  readonly name = 'Logins1700000000018';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [...logins.map(createRole), ...others, ...grants, untilTheAuthoriserRuns])
      await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('logins are not dropped by a migration'));
  }
}
