import type { MigrationInterface, QueryRunner } from 'typeorm';

const schema = /* sql */ `
-- Keys of no client yet: the recent ones are counted before another one is generated.
create index key_shares_of_no_client on key_shares (created_at) where client_id is null;

-- Whose a key is is written once (what else a row says is bound into its ciphertext), and a share is never removed: what was bound may hold
-- money, and in a database that was restored a key can look unbound that its peers have bound.
create function guard_key_share() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    raise exception 'the share of key % is not removed', old.key_id using errcode = 'integrity_constraint_violation';
  end if;
  if new.key_id <> old.key_id or (old.client_id is not null and new.client_id is distinct from old.client_id)
     or (old.wallet_id is not null and (new.wallet_id, new.account_id) is distinct from (old.wallet_id, old.account_id)) then
    raise exception 'whose key % is is written once', old.key_id using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end $$;
create function keep_key_shares() returns trigger language plpgsql as $$
begin
  raise exception 'shares of keys are not removed' using errcode = 'integrity_constraint_violation';
end $$;
create trigger key_shares_are_kept before truncate on key_shares for each statement execute function keep_key_shares();
create trigger key_shares_guard before update or delete on key_shares for each row execute function guard_key_share();
`;

/** A key is bound once, and its share stays. */
export class GuardedShares0017 implements MigrationInterface {
  readonly name = 'GuardedShares1700000000017';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(schema);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('key shares are not dropped by a migration'));
  }
}
