import type { MigrationInterface, QueryRunner } from 'typeorm';
import { houseClientId } from '../src/platform/house';
import { toGrants } from './grants';
import { listTotalRights } from './rights';

const schema = /* sql */ `
-- How many rows the lists of the API have, so that a page does not count them all: of each client, of each of its wallets and of each of
-- its accounts, by chain. Written by triggers alone, within the COMMIT that inserts a row; the rows are never deleted, and what lists are
-- filtered by never changes. Clients and wallets have several slots, so that insertions do not wait for one row. The house has no lists.
create table list_totals (
  list text not null check (list in ('wallets', 'accounts', 'transactions')),
  -- the client, or one of its wallets or accounts
  subject_id uuid not null,
  -- of lists without chains: empty
  chain text not null,
  slot smallint not null check (slot between 0 and 7),
  client_id uuid not null,
  total bigint not null check (total > 0),
  primary key (list, subject_id, chain, slot)
) with (fillfactor = 70);

-- @param subjects the client first: who counts for one client at the same time and in the same slot waits here, and nowhere else
-- @param alone how many of the last subjects have one slot only
create function add_to_list(name text, client uuid, subjects uuid[], alone integer, chain_name text) returns void language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if client = '${houseClientId}' then return; end if;
  insert into list_totals as t (list, client_id, subject_id, chain, slot, total)
  select name, client, subject, chain_name, case when place > cardinality(subjects) - alone then 0 else counter_slot() end, 1
    from unnest(subjects) with ordinality as s (subject, place) where subject is not null order by place
  on conflict (list, subject_id, chain, slot) do update set total = t.total + 1;
end $$;

create function count_wallet() returns trigger language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  perform add_to_list('wallets', new.client_id, array[new.client_id], 0, '');
  return null;
end $$;
create constraint trigger wallets_total after insert on wallets deferrable initially deferred for each row execute function count_wallet();

create function count_account() returns trigger language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  perform add_to_list('accounts', new.client_id, array[new.client_id, new.wallet_id], 1, new.chain);
  return null;
end $$;
create constraint trigger accounts_total after insert on accounts deferrable initially deferred for each row execute function count_account();

-- Those of one account wait for its ledger accounts anyway.
create function count_transaction() returns trigger language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  perform add_to_list('transactions', new.client_id, array[new.client_id, new.wallet_id, new.account_id], 1, new.chain);
  return null;
end $$;
create constraint trigger transactions_total after insert on transactions
  deferrable initially deferred for each row execute function count_transaction();

-- what was inserted before this migration
insert into list_totals (list, client_id, subject_id, chain, slot, total)
select list, client_id, subject_id, chain, 0, count(*) from (
  select 'wallets' as list, client_id, client_id as subject_id, '' as chain from wallets
  union all select 'accounts', client_id, unnest(array[client_id, wallet_id]), chain from accounts
  union all select 'transactions', client_id, unnest(array[client_id, wallet_id, account_id]), chain from transactions
) each where subject_id is not null and client_id <> '${houseClientId}' group by 1, 2, 3, 4;

create index transactions_by_client_and_chain on transactions (client_id, chain, tx_id desc);
`;

/** How many rows the lists of the API have. */
export class ListTotals0065 implements MigrationInterface {
  readonly name = 'ListTotals1700000000065';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [schema, ...toGrants(listTotalRights)]) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('totals are not dropped by a migration'));
  }
}
