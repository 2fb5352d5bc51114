import type { MigrationInterface, QueryRunner } from 'typeorm';

const schema = /* sql */ `
-- The authoriser's login alone gives nothing up for a list on which the destination is not: cancellations are ordered by this reason.
create function guard_list_of_cancellation() returns trigger language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  if login_role() = 'gateway_authoriser' and not exists (
    select from security_factors f
     where f.client_id = new.client_id and f.factor_type = 'BLACKLIST' and f.chain = new.chain and f.address_key = new.to_address_key
       and f.status = 'active' and f.deleted_at is null) then
    raise exception '% is not given up as %: its destination is not listed', new.tx_id, new.cancellation_reason
      using errcode = 'insufficient_privilege';
  end if;
  return new;
end $$;
create trigger transactions_given_up_by_list before update on transactions for each row
  when (new.cancellation_reason = 'address_blacklisted' and new.cancellation_reason is distinct from old.cancellation_reason)
  execute function guard_list_of_cancellation();

-- What was asked for before an attempt began is told by this time.
create function guard_login_of_attempt() returns trigger language plpgsql as $$
begin
  if login_role() is not null then new.signing_begun_at := clock_timestamp(); end if;
  return new;
end $$;
create trigger transfer_attempts_login before insert on transfer_attempts for each row execute function guard_login_of_attempt();
`;

/** Rows from which the authoriser reads why an attempt was begun. */
export class AuthoriserRules0040 implements MigrationInterface {
  readonly name = 'AuthoriserRules1700000000040';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(schema);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('the rules of the processes are not dropped by a migration'));
  }
}
