import type { MigrationInterface, QueryRunner } from 'typeorm';

const schema = /* sql */ `
-- Orders that this node has acted on: to sign a transaction, to generate a key, to bind one. A gateway whose database was restored
-- from a backup takes back from here what it has ordered since.
create table seen_orders (
  jti uuid primary key,
  -- the authoriser's running number
  seq bigint not null,
  -- JWS in compact form
  compact text not null,
  -- hex; null: an order about a key
  unsigned text,
  seen_at timestamptz not null default clock_timestamp()
);
create index seen_orders_by_number on seen_orders (seq);

create function keep_seen_orders() returns trigger language plpgsql as $$
begin
  raise exception 'an order that was seen is kept' using errcode = 'integrity_constraint_violation';
end $$;
create trigger seen_orders_are_kept before update or delete or truncate on seen_orders for each statement execute function keep_seen_orders();

-- An order about a key. Not waited for by the disk: the share that is written next is, and what was committed before it is then on the
-- disk as well. An order about a transaction is kept by admit_signature.
create function see_order(jti uuid, seq bigint, compact text) returns void language plpgsql as $$
begin
  perform set_config('synchronous_commit', 'off', true);
  insert into seen_orders values (jti, seq, compact, null) on conflict do nothing;
end $$;
`;

/** The orders that this node has acted on. */
export class SeenOrders0006 implements MigrationInterface {
  readonly name = 'SeenOrders1700000000006';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(schema);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('orders that were seen are not dropped by a migration'));
  }
}
