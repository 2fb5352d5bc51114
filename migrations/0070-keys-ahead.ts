import type { MigrationInterface, QueryRunner } from 'typeorm';
import { toGrants } from './grants';
import { keyAheadRights } from './rights';

const schema = /* sql */ `
-- Keys that were ordered before a wallet wants one. Rows stay: a key is one wallet's, or was never any's.
create table keys_ahead (
  key_id text primary key check (key_id ~ '^ahead-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}[.]1$'),
  ordered_at timestamptz not null default clock_timestamp(),
  -- every node has its share and has signed with it; null: not to be taken
  offered_at timestamptz,
  -- the wallet that has taken it, whether or not the nodes have bound it since
  wallet_id uuid unique references wallets,
  taken_at timestamptz,
  check ((wallet_id is null) = (taken_at is null)),
  check (wallet_id is null or offered_at is not null)
);
create index keys_ahead_offered on keys_ahead (offered_at) where offered_at is not null and wallet_id is null;
create index keys_ahead_by_age on keys_ahead (ordered_at);

create function guard_key_ahead() returns trigger language plpgsql as $$
begin
  if (new.key_id, new.ordered_at) is distinct from (old.key_id, old.ordered_at)
     or (old.offered_at is not null and new.offered_at is distinct from old.offered_at)
     or (old.wallet_id is not null and (new.wallet_id, new.taken_at) is distinct from (old.wallet_id, old.taken_at)) then
    raise exception 'whose key % is is written once', old.key_id using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end $$;
create trigger keys_ahead_guard before update on keys_ahead for each row execute function guard_key_ahead();
create trigger keys_ahead_kept before delete or truncate on keys_ahead for each statement execute function refuse_change();
`;

/** Keys that idle nodes generate ahead. */
export class KeysAhead0070 implements MigrationInterface {
  readonly name = 'KeysAhead1700000000070';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [schema, ...toGrants(keyAheadRights)]) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('whose a key is is not dropped by a migration'));
  }
}
