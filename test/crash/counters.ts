import { houseClientId } from '../../src/platform/house';
import { gatewayQuery } from '../adversary/processes';

/** Totals of lists, and sums of limits by wallet and symbol, that are not those of the rows they count. */
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
     select 'sum', wallet_id::text || ' ' || symbol, kept, counted from (
       select wallet_id, symbol, sum(amount) as kept from wallet_sums group by 1, 2) k
       full join (
         select wallet_id, token_symbol as symbol, sum(amount) as counted from transactions
          where is_held and status not in ('REJECTED', 'FAILED', 'CANCELLED') group by 1, 2) c using (wallet_id, symbol)
      where coalesce(kept, 0) <> coalesce(counted, 0)`,
  );
