import type { MigrationInterface, QueryRunner } from 'typeorm';
import { toGrants } from './grants';
import { rejectionRights } from './rights';

const schema = /* sql */ `
-- as before, and: the API records that a user has rejected a transfer that waits for its approval, and nobody else does
create or replace function guard_refusal() returns trigger language plpgsql as $$
declare
  role text := login_role();
begin
  if (role, new.kind) in (('gateway_worker', 'order'), ('gateway_authoriser', 'chain')) then
    raise exception '% does not refuse as %', role, new.kind using errcode = 'insufficient_privilege';
  end if;
  if (role = 'gateway_api') <> (new.code = 'approval_rejected') or role = 'gateway_api' and not (new.kind = 'rule' and new.attempt = 1
    and exists (select from transactions t where t.tx_id = new.tx_id and t.status = 'AWAITING_APPROVAL')) then
    raise exception '% does not refuse transaction % as %', role, new.tx_id, new.code using errcode = 'insufficient_privilege';
  end if;
  new.refused_by := coalesce(role, 'owner');
  new.refused_at := clock_timestamp();
  return new;
end $$;

-- and ends it, which guard_login_of_refused allows by that record alone
do $$
declare
  before text := pg_get_functiondef('guard_login_of_transaction()'::regprocedure);
  after text := replace(before, 'when ''gateway_api'' then new.status = ''CANCELLED''',
    'when ''gateway_api'' then new.status = ''CANCELLED'' or (old.status, new.status) = (''AWAITING_APPROVAL'', ''REJECTED'')');
begin
  if after = before then raise exception 'the rule of what the API may do with a transaction is not found'; end if;
  execute after;
end $$;
`;

/** Transfers that wait for an approval are rejected by users. */
export class Rejections0085 implements MigrationInterface {
  readonly name = 'Rejections1700000000085';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [schema, ...toGrants(rejectionRights)]) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('what users have rejected is not dropped by a migration'));
  }
}
