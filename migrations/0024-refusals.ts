import type { MigrationInterface, QueryRunner } from 'typeorm';
import { toGrants } from './grants';
import { refusalRights } from './rights';

const schema = /* sql */ `
-- Why an attempt is not begun, written by the step that has refused it: whoever asks for the end of a transfer gives no reason.
create table refusals (
  tx_id uuid not null references transactions,
  -- the attempt that is not begun: 1 ends a transfer of which nothing is signed, a later one a transfer whose attempts are all impossible
  attempt integer not null check (attempt > 0),
  -- rule: by rules, limits and lists. chain: it would fail there. order: the authoriser orders no such attempt
  kind text not null check (kind in ('rule', 'chain', 'order')),
  code text not null,
  reason text not null,
  -- the role of the process, or the owner
  refused_by text not null,
  refused_at timestamptz not null,
  primary key (tx_id, attempt, refused_by, kind, code),
  check (kind = 'rule' or code not in ('address_blacklisted', 'address_not_whitelisted', 'approval_expired', 'wallet_not_active',
    'account_not_active')),
  check (kind = 'chain' or code <> 'reverted_on_chain')
);
create trigger refusals_append_only before update or delete or truncate on refusals for each statement execute function refuse_change();

create function guard_refusal() returns trigger language plpgsql as $$
declare
  role text := login_role();
begin
  if (role, new.kind) in (('gateway_worker', 'order'), ('gateway_authoriser', 'chain')) then
    raise exception '% does not refuse as %', role, new.kind using errcode = 'insufficient_privilege';
  end if;
  new.refused_by := coalesce(role, 'owner');
  new.refused_at := clock_timestamp();
  return new;
end $$;
create trigger refusals_guard before insert on refusals for each row execute function guard_refusal();

-- Before anything of it is signed, a process ends a transfer as rejected or failed only as a refusal on record says.
create function guard_login_of_refused() returns trigger language plpgsql as $$
begin
  if login_role() is not null and not exists (
    select from refusals r
     where r.tx_id = new.tx_id and r.attempt = 1 and (r.code, r.reason) = (new.failure_code, new.failure_message)
       and (r.kind = 'rule') = (new.status = 'REJECTED')
  ) then
    raise exception 'no refusal on record ends transaction % as %', new.tx_id, new.status using errcode = 'insufficient_privilege';
  end if;
  return new;
end $$;
create trigger transactions_refused before update on transactions for each row
  when (new.is_signed and old.signing_begun_at is null and old.status <> new.status and new.status in ('REJECTED', 'FAILED'))
  execute function guard_login_of_refused();

-- A process sets the end of the wait for an approval when the wait begins, and to no later than APPROVAL_WAIT_SECONDS allows.
create function guard_login_of_wait() returns trigger language plpgsql as $$
begin
  if login_role() is not null and not (new.status = 'AWAITING_APPROVAL' and old.status <> new.status
    and new.approval_expires_at > clock_timestamp() and new.approval_expires_at <= clock_timestamp() + interval '24 hours') then
    raise exception 'the wait of % for an approval cannot end at %', new.tx_id, new.approval_expires_at using errcode = 'insufficient_privilege';
  end if;
  return new;
end $$;
create trigger transactions_waits before update on transactions for each row
  when (new.approval_expires_at is distinct from old.approval_expires_at) execute function guard_login_of_wait();
`;

/** Why a transfer ends before anything of it is signed, and how long it may wait for an approval. */
export class Refusals0024 implements MigrationInterface {
  readonly name = 'Refusals1700000000024';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [schema, ...toGrants(refusalRights)]) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('why transfers were refused is not dropped by a migration'));
  }
}
