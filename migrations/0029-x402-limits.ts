import type { MigrationInterface, QueryRunner } from 'typeorm';
import { databaseRoles } from '../src/platform/database-roles';
import { toGrants } from './grants';
import { x402CostRights } from './rights';

const schema = /* sql */ `
-- Highest fee of the coins that are sent to the payer; atomic units. It counts until that fee is known, apart from the settlement's own.
alter table x402_approvals add column fee_bound numeric(78,0) not null default 0 check (fee_bound >= 0);

-- What the house pays for a client, by the hour in which a settlement was accepted: limits read so many rows, however many settlements
-- there are. Written by triggers alone. Of several slots, so that settlements of one client do not wait for one row.
create table x402_costs (
  client_id uuid not null,
  chain text not null,
  hour timestamptz not null,
  slot smallint not null check (slot between 0 and 7),
  -- fees of settlements and of what is sent to their payers: what they have cost, and may cost as long as they are open; atomic units
  fees numeric(78,0) not null,
  -- coins that are given to payers; atomic units
  given numeric(78,0) not null,
  primary key (client_id, chain, hour, slot)
);

-- What limits of a day count: the hours that have a part in the last 24.
create function x402_first_hour() returns timestamptz language sql stable as $$
  select date_trunc('hour', statement_timestamp() - interval '24 hours', 'UTC')
$$;
grant execute on function x402_first_hour() to ${databaseRoles.join(', ')};

-- With the rights of the owner: no process writes what its limits count. Hours that nothing counts any more go with the next new one.
create function add_x402_cost(tx uuid, client uuid, chain_name text, accepted timestamptz, more_fees numeric, more_given numeric)
  returns void language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  at_hour timestamptz := date_trunc('hour', accepted, 'UTC');
  is_new boolean;
begin
  if at_hour < x402_first_hour() or (more_fees = 0 and more_given = 0) then return; end if;
  insert into x402_costs as c (client_id, chain, hour, slot, fees, given)
  values (client, chain_name, at_hour, hashtextextended(tx::text, 0) & 7, more_fees, more_given)
  on conflict (client_id, chain, hour, slot) do update set fees = c.fees + excluded.fees, given = c.given + excluded.given
  returning xmax = 0 into is_new;
  if is_new then
    delete from x402_costs c using (
      select ctid from x402_costs o
       where o.client_id = client and o.chain = chain_name and o.hour < x402_first_hour() for update skip locked
    ) old where c.ctid = old.ctid;
  end if;
end $$;

-- All of them run within COMMIT: others wait for the row of an hour only while one commits.
create function count_settlement() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  perform add_x402_cost(new.tx_id, new.client_id, new.chain, new.created_at, new.gas_bound, 0);
  return null;
end $$;
create constraint trigger x402_settlements_counted after insert on x402_settlements
  deferrable initially deferred for each row execute function count_settlement();

create function count_approval() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  perform add_x402_cost(new.tx_id, new.client_id, new.chain, s.created_at, new.fee_bound, new.top_up)
     from x402_settlements s where s.tx_id = new.tx_id;
  return null;
end $$;
create constraint trigger x402_approvals_counted after insert on x402_approvals
  deferrable initially deferred for each row execute function count_approval();

-- In place of what it might have cost. What was never sent to its payer costs nothing; coins are sent under the lock of the open settlement.
create function count_end_of_settlement() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  perform add_x402_cost(s.tx_id, s.client_id, s.chain, s.created_at, coalesce(new.fee, 0) - s.gas_bound - coalesce((
      select a.fee_bound from x402_approvals a
       where a.tx_id = s.tx_id and not exists (select from transactions t where t.parent_tx_id = a.tx_id and t.is_held)), 0), 0)
     from x402_settlements s where s.tx_id = new.tx_id;
  return null;
end $$;
create constraint trigger transactions_settled_counted after update on transactions
  deferrable initially deferred for each row
  when (new.transaction_type = 'X402_SETTLE' and old.ended_at is null and new.ended_at is not null)
  execute function count_end_of_settlement();

create function count_end_of_top_up() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  perform add_x402_cost(a.tx_id, a.client_id, a.chain, s.created_at, coalesce(new.fee, 0) - a.fee_bound, 0)
     from x402_approvals a join x402_settlements s using (tx_id) where a.tx_id = new.parent_tx_id;
  return null;
end $$;
create constraint trigger transactions_given_counted after update on transactions
  deferrable initially deferred for each row
  when (new.transaction_type = 'GAS_TOPUP' and old.ended_at is null and new.ended_at is not null)
  execute function count_end_of_top_up();

-- what was accepted before this migration
select add_x402_cost(s.tx_id, s.client_id, s.chain, s.created_at, coalesce(t.fee, case when t.ended_at is null then s.gas_bound else 0 end), 0)
  from x402_settlements s join transactions t using (tx_id) where s.created_at >= x402_first_hour();
select add_x402_cost(a.tx_id, a.client_id, a.chain, s.created_at, coalesce(t.fee, 0), a.top_up)
  from x402_approvals a join x402_settlements s using (tx_id) left join transactions t on t.parent_tx_id = a.tx_id and t.is_held
 where s.created_at >= x402_first_hour();

-- limits were counted by them
drop index x402_settlements_by_client;
drop index x402_approvals_by_client;

-- Of nothing, nothing is sent: whoever claims a payment for 0 keeps nobody else from having it settled. One client claims it once.
drop index x402_settlements_once;
create unique index x402_settlements_once on x402_settlements (chain, payload_type, phase, identity) where released_at is null and amount > 0;
create unique index x402_settlements_once_a_client on x402_settlements (client_id, chain, payload_type, phase, identity)
  where released_at is null;

-- what a settler has open, and may have to pay
create index settlements_open_by_sender on transactions (chain, sender_address) where ended_at is null and sender_address is not null;

-- what the limits of two nodes have refused
create index settlements_refused on transactions (chain, sender_address, client_id, signing_begun_at)
  where cancellation_reason = 'node_policy' and sender_address is not null;
`;

/** What the house pays for each client, counted by the hour; and which claims of a payment exclude each other. */
export class X402Limits0029 implements MigrationInterface {
  readonly name = 'X402Limits1700000000029';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [schema, ...toGrants(x402CostRights)]) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('what limits count is not dropped by a migration'));
  }
}
