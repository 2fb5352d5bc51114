import type { MigrationInterface, QueryRunner } from 'typeorm';
import { toGrants } from './grants';
import { cancelledWithdrawalRights } from './rights';

const schema = /* sql */ `
-- Operators cancel withdrawals from settlers, before their signing begins (guard_transaction), and no other transactions. Why one was parked
-- is no reason of its end; the column is not theirs to write.
do $$
declare
  before text := pg_get_functiondef('guard_login_of_transaction()'::regprocedure);
  rule text := 'when ''gateway_authoriser'' then new.status = ''SIGNING''';
  refused text := 'if not may then';
  after text := replace(replace(before,
    rule, rule || ' when ''gateway_operator'' then new.status = ''CANCELLED'' and new.transaction_type = ''GAS_WITHDRAWAL'''),
    refused, 'if tg_op = ''UPDATE'' and role = ''gateway_operator'' then new.failure_code := null; new.failure_message := null; end if; ' || refused);
begin
  if position(rule in before) = 0 or position(refused in before) = 0 then
    raise exception 'the rule of what operators may do with a transaction is not found';
  end if;
  execute after;
end $$;

-- and give back what these hold
do $$
declare
  before text := pg_get_functiondef('guard_login_of_posting()'::regprocedure);
  rule text := 'if not (new.kind = any (case role';
  after text := replace(before, rule, 'if role = ''gateway_operator'' and new.kind = ''unlock''
      and exists (select from transactions t where t.tx_id = new.tx_id and t.transaction_type = ''GAS_WITHDRAWAL'') then return new; end if;
  ' || rule);
begin
  if after = before then raise exception 'the rule of what operators may post is not found'; end if;
  execute after;
end $$;
`;

/** Withdrawals from settlers of which nothing is signed are cancelled by operators: nobody else can. */
export class CancelledWithdrawals0092 implements MigrationInterface {
  readonly name = 'CancelledWithdrawals1700000000092';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [schema, ...toGrants(cancelledWithdrawalRights)]) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('the rules of the processes are not dropped by a migration'));
  }
}
