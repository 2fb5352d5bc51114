import type { EntityManager } from 'typeorm';
import type { GetFamily } from '../chains/family';
import type { ChainFamily } from '../chains/types';
import { refusedLately } from './refused-lately';

/** What a settler has and has to do. */
export interface SettlerReport {
  settlerId: string;
  accountId: string;
  chain: string;
  status: 'ACTIVE' | 'DRAINING';
  /** What the ledger says that it may spend; atomic units of the chain's native coin. */
  balance: bigint;
  /** Of the balance: without what the chain has an account keep. */
  spendable: bigint;
  /** Settlements that have not ended. */
  open: number;
  /** Clients whose settlements, or those of them that create wallets, are not begun for now, since the limits of two signing nodes have refused one. */
  refusedClients: number;
  /** When the oldest of them was accepted. */
  oldestAt: Date | null;
  /** Settlements that it pays for, by the median of the last 100; null: it has settled nothing yet, or they cost nothing. */
  runway: bigint | null;
}

interface ReportRow {
  settler_id: string;
  account_id: string;
  chain: string;
  family: ChainFamily;
  status: SettlerReport['status'];
  balance: string;
  open: number;
  refused_clients: number;
  oldest_at: Date | null;
  gas: string | null;
}

/** Of all chains, or of one. */
export async function reportSettlers(manager: EntityManager, getFamily: GetFamily, chain?: string): Promise<SettlerReport[]> {
  const rows = await manager.query<ReportRow[]>(
    `select s.settler_id, s.account_id, s.chain, a.family, s.status, coalesce(l.available, 0)::text as balance, o.open, o.oldest_at, g.gas,
            (select count(*)::int from x402_policies p where ${refusedLately('p.client_id', 's.chain', 'a.address', 'true')}) as refused_clients
       from settlers s
       join accounts a on a.account_id = s.account_id
       left join ledger_accounts l on l.account_id = s.account_id and l.chain = s.chain and l.contract_address is null
      cross join lateral (
        select count(*)::int as open, min(t.created_at) as oldest_at from transactions t
         where t.chain = s.chain and t.sender_address = a.address and t.is_signed and t.ended_at is null) o
      cross join lateral (
        select (percentile_disc(0.5) within group (order by last.amount))::text as gas from (
          select t.amount from transactions t
           where t.account_id = s.account_id and t.direction = 'out' and not t.is_held and not t.is_signed
           order by t.tx_id desc limit 100) last) g
      where $1::text is null or s.chain = $1
      order by s.chain, s.settler_id`,
    [chain ?? null],
  );
  return rows.map((row) => toReport(row, getFamily(row.family).minimumBalance ?? 0n));
}

function toReport(
  { settler_id, account_id, chain, status, open, oldest_at, refused_clients: refusedClients, ...amounts }: ReportRow,
  minimum: bigint,
): SettlerReport {
  const balance = BigInt(amounts.balance);
  const spendable = balance > minimum ? balance - minimum : 0n;
  const gas = BigInt(amounts.gas ?? 0);
  const runway = gas === 0n ? null : spendable / gas;
  return {
    settlerId: settler_id,
    accountId: account_id,
    chain,
    status,
    balance,
    spendable,
    open,
    refusedClients,
    oldestAt: oldest_at,
    runway,
  };
}
