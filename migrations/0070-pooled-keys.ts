import type { MigrationInterface, QueryRunner } from 'typeorm';
import { toGrants } from './grants';
import { pooledKeyRights } from './rights';

const schema = /* sql */ `
-- Keys of no client that every node has a share of and has signed with. Rows stay: a key is one wallet's, or was never any's.
create table pooled_keys (
  key_id text primary key check (key_id ~ '^pool-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}[.]1$'),
  offered_at timestamptz not null default clock_timestamp(),
  -- the wallet that has taken it, whether or not the nodes have bound it since
  wallet_id uuid unique references wallets,
  taken_at timestamptz,
  check ((wallet_id is null) = (taken_at is null))
);
create index pooled_keys_not_taken on pooled_keys (offered_at) where wallet_id is null;

-- What a wallet may take. In a database that was restored a key can look as if no wallet had it: its orders are taken back from the nodes
-- before any other is issued (0020), and rows of this table are not.
create view free_pooled_keys as
  select key_id from pooled_keys k
   where k.wallet_id is null
     and not exists (select from orders o where o.kind = 'bind_key' and o.claims ->> 'key_id' = k.key_id)
     and not exists (select from wallets w where w.key_id = k.key_id);

create function guard_pooled_key() returns trigger language plpgsql as $$
begin
  if (new.key_id, new.offered_at) is distinct from (old.key_id, old.offered_at)
     or (old.wallet_id is not null and (new.wallet_id, new.taken_at) is distinct from (old.wallet_id, old.taken_at)) then
    raise exception 'whose key % is is written once', old.key_id using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end $$;
create trigger pooled_keys_guard before update on pooled_keys for each row execute function guard_pooled_key();
create trigger pooled_keys_kept before delete or truncate on pooled_keys for each statement execute function refuse_change();
`;

/** Keys that idle nodes generate before wallets want them. */
export class PooledKeys0070 implements MigrationInterface {
  readonly name = 'PooledKeys1700000000070';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [schema, ...toGrants(pooledKeyRights)]) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('whose a key is is not dropped by a migration'));
  }
}
