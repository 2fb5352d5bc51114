import type { MigrationInterface, QueryRunner } from 'typeorm';
import { databaseRoles } from '../src/platform/database-roles';
import { toGrants } from './grants';
import { walletSumRights } from './rights';

const schema = /* sql */ `
-- What counts against the daily limits of a wallet, by the hour from which it counts: a limit reads some rows, however many transfers
-- there are. Written by triggers alone. Of several slots, so that transfers of one wallet do not wait for one row; what one slot has
-- counted another one may take back, so only the sum of all slots says something.
create table wallet_sums (
  wallet_id uuid not null,
  symbol text not null,
  -- by UTC
  hour timestamptz not null,
  decimals smallint not null,
  slot smallint not null check (slot between 0 and 7),
  -- atomic units
  amount numeric not null,
  primary key (wallet_id, symbol, hour, decimals, slot)
) with (fillfactor = 70);

-- Of several database transactions at a time, most have different ones.
create function counter_slot() returns smallint language sql volatile as $$
  select mod(pg_current_xact_id()::text::numeric, 8)::smallint
$$;

-- Rejected, failed and cancelled transfers do not count. Approved ones count from their approval.
create function counts_for_limits(state text) returns boolean language sql immutable as $$
  select state not in ('REJECTED', 'FAILED', 'CANCELLED')
$$;
grant execute on function counts_for_limits(text) to ${databaseRoles.join(', ')};

-- With the rights of the owner: no process writes what its limits count. Hours are kept for twice as long as limits read them, so that a
-- clock that is set back loses none; older ones go with the next new one.
create function add_to_wallet_sum(wallet uuid, token text, token_decimals smallint, counted_at timestamptz, more numeric)
  returns void language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  at_hour timestamptz := date_trunc('hour', counted_at, 'UTC');
  oldest timestamptz := clock_timestamp() - interval '48 hours';
  is_new boolean;
begin
  if at_hour < oldest or more = 0 then return; end if;
  insert into wallet_sums as s (wallet_id, symbol, hour, decimals, slot, amount)
  values (wallet, token, at_hour, token_decimals, counter_slot(), more)
  on conflict (wallet_id, symbol, hour, decimals, slot) do update set amount = s.amount + excluded.amount
  returning xmax = 0 into is_new;
  if is_new then
    delete from wallet_sums s using (
      select ctid from wallet_sums o where o.wallet_id = wallet and o.symbol = token and o.hour < oldest for update skip locked
    ) old where s.ctid = old.ctid;
  end if;
end $$;

-- Runs within COMMIT: others wait for the row of an hour only while one commits, and after the rows of ledger accounts.
create function count_for_limits() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if tg_op = 'UPDATE' and counts_for_limits(old.status) then
    perform add_to_wallet_sum(old.wallet_id, old.token_symbol, old.decimals, coalesce(old.approved_at, old.created_at), -old.amount);
  end if;
  if counts_for_limits(new.status) then
    perform add_to_wallet_sum(new.wallet_id, new.token_symbol, new.decimals, coalesce(new.approved_at, new.created_at), new.amount);
  end if;
  return null;
end $$;
create constraint trigger transactions_wallet_sum after insert on transactions
  deferrable initially deferred for each row when (new.is_held) execute function count_for_limits();
create constraint trigger transactions_wallet_sum_changed after update on transactions
  deferrable initially deferred for each row
  when (new.is_held and (counts_for_limits(old.status) <> counts_for_limits(new.status) or old.approved_at is distinct from new.approved_at))
  execute function count_for_limits();

-- what was accepted before this migration
insert into wallet_sums (wallet_id, symbol, hour, decimals, slot, amount)
select wallet_id, token_symbol, date_trunc('hour', coalesce(approved_at, created_at), 'UTC'), decimals, 0, sum(amount)
  from transactions
 where is_held and amount > 0 and counts_for_limits(status) and coalesce(approved_at, created_at) > now() - interval '48 hours'
 group by 1, 2, 3, 4;

-- for the hour in which the last 24 begin, whose transfers are read one by one
drop index transfers_by_wallet_and_token;
create index transfers_counted on transactions (wallet_id, token_symbol, (coalesce(approved_at, created_at)))
  where is_held and status not in ('REJECTED', 'FAILED', 'CANCELLED');
`;

/** What the daily limits of wallets count, by the hour. */
export class WalletSums0064 implements MigrationInterface {
  readonly name = 'WalletSums1700000000064';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [schema, ...toGrants(walletSumRights)]) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('what limits count is not dropped by a migration'));
  }
}
