import { houseClientId } from '../../src/platform/house';
import { gatewayQuery } from '../adversary/processes';

/** Totals of lists, changing ones among them, and sums of limits by wallet and symbol, that are not those of the rows they count. */
export const differingCounters = () =>
  gatewayQuery(
    `select 'total' as counter, subject_id::text || ' ' || chain as subject, kept, counted from (
       select subject_id, chain, sum(total) as kept from list_totals where list = 'transactions' group by 1, 2) k
       full join (
         select subject_id, chain, count(*) as counted from (
           select unnest(array[client_id, wallet_id, account_id]) as subject_id, chain from transactions where client_id <> '${houseClientId}') each
          where subject_id is not null group by 1, 2) c using (subject_id, chain)
      where kept is distinct from counted
     union all
     select list, subject_id::text || ' ' || part, kept, counted from (
       select list, subject_id, part, sum(counted) as kept from list_counts group by 1, 2, 3) k
       full join (
         select 'deliveries' as list, webhook_id as subject_id, status as part, count(*) as counted from webhook_deliveries group by 2, 3
         union all
         select 'assets', client_id, '', count(*) from ledger_accounts l
          where client_id <> '${houseClientId}' and (contract_address is null and available + locked > 0
             or exists (select from assets a where a.asset_id = l.ledger_account_id))
          group by 2) c using (list, subject_id, part)
      where coalesce(kept, 0) <> coalesce(counted, 0)
     union all
     select 'sum', wallet_id::text || ' ' || symbol, kept, counted from (
       select wallet_id, symbol, sum(amount) as kept from wallet_sums group by 1, 2) k
       full join (
         select wallet_id, token_symbol as symbol, sum(amount) as counted from transactions
          where is_held and status not in ('REJECTED', 'FAILED', 'CANCELLED') group by 1, 2) c using (wallet_id, symbol)
      where coalesce(kept, 0) <> coalesce(counted, 0)`,
  );
