import type { MigrationInterface, QueryRunner } from 'typeorm';
import { toGrants } from './grants';
import { orderComparisonRights } from './rights';

const schema = /* sql */ `
-- Whether this database has every order that the signing nodes have seen: one row.
create table order_comparison (
  single boolean primary key default true check (single),
  -- database_incarnation of what was compared; null: nothing yet
  compared_as text,
  compared_at timestamptz,
  -- the nodes were asked for all orders with higher numbers: somewhat below the highest one at the first comparison of that incarnation
  compared_after bigint,
  -- since when it is known that orders are missing; null: none are known to be. Only gateway reconcile sets it back
  missing_since timestamptz,
  -- the nodes are asked for all orders with higher numbers
  missing_after bigint,
  -- the order that proves it, and the node that has shown it
  missing_order bigint,
  missing_node smallint check (missing_node between 1 and 3),
  check (num_nulls(missing_since, missing_after, missing_order, missing_node) in (0, 4))
);
insert into order_comparison default values;

-- Idempotency keys of transfers that were rebuilt from the orders of the signing nodes. An order has the SHA-256 in hex of client id,
-- zero byte and key: the key itself is not known any more, and a repeated request must find its transfer.
create table rebuilt_requests (
  request text primary key,
  tx_id uuid not null references transactions,
  rebuilt_at timestamptz not null default clock_timestamp()
);
create trigger rebuilt_requests_append_only before update or delete or truncate on rebuilt_requests
  for each statement execute function refuse_change();

-- Changes with whatever may have taken commits back: a database that was restored or copied has other object ids, and a server that
-- runs on restored files, or that took over from another one, has started at another time.
create function database_incarnation() returns text language sql stable as $$
  select concat_ws('/', d.oid, 'public.order_comparison'::regclass::oid, extract(epoch from pg_postmaster_start_time()))
    from pg_database d where d.datname = current_database()
$$;

-- No order is issued and no transfer accepted before the signing nodes were asked whether this database has all their orders. Whoever
-- owns the schema is no process: rebuilding what is missing must be possible.
create function orders_are_compared() returns boolean language sql stable as $$
  select exists (select from public.order_comparison where missing_since is null and compared_as = database_incarnation()) or login_role() is null
$$;

create function guard_orders_compared() returns trigger language plpgsql as $$
begin
  if new.is_signed and not orders_are_compared() then
    raise exception 'transaction % waits until the orders of the signing nodes are compared', new.tx_id using errcode = 'GW002';
  end if;
  -- rebuilt after this request has looked for it: a repetition finds it
  if tg_op = 'INSERT' and new.idempotency_key is not null and login_role() is not null and exists (
    select from public.rebuilt_requests where request =
      encode(sha256(convert_to(new.client_id::text, 'UTF8') || '\\x00'::bytea || convert_to(new.idempotency_key, 'UTF8')), 'hex')
  ) then
    raise exception 'transaction % has just been rebuilt under another id', new.tx_id using errcode = 'GW002';
  end if;
  return new;
end $$;
-- its name puts it after transactions_classify
create trigger transactions_compared before insert on transactions for each row execute function guard_orders_compared();
-- a transfer that looks untouched may have been signed after the backup: its end would unlock what was paid
create trigger transactions_end_compared before update on transactions for each row
  when (old.signing_begun_at is null and old.status <> new.status and new.status in ('REJECTED', 'CANCELLED', 'FAILED'))
  execute function guard_orders_compared();

-- A process may find that orders are missing, and not that they are there again.
create function guard_order_comparison() returns trigger language plpgsql as $$
begin
  if login_role() is not null and old.missing_since is not null then
    raise exception 'orders are missing: gateway reconcile rebuilds them' using errcode = 'insufficient_privilege';
  end if;
  return new;
end $$;
create trigger order_comparison_guard before update on order_comparison for each row execute function guard_order_comparison();
create trigger order_comparison_kept before delete or truncate on order_comparison for each statement execute function refuse_change();

grant execute on function database_incarnation() to gateway_api, gateway_authoriser, gateway_worker, gateway_operator;
grant execute on function orders_are_compared() to gateway_api, gateway_authoriser, gateway_worker, gateway_operator;
`;

/** Whether the signing nodes have seen orders that the database does not have, as after a restored backup. */
export class OrderComparison0020 implements MigrationInterface {
  readonly name = 'OrderComparison1700000000020';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [schema, ...toGrants(orderComparisonRights)]) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('what is known about missing orders is not dropped by a migration'));
  }
}
