import type { EntityManager } from 'typeorm';
import type { ChainRegistry } from '../chains/registry';
import { formatAmount } from '../platform/money';
import { settlementType, transferType } from '../transactions/types';
import * as gauges from './metrics';

/**
 * Queries about transactions that have not ended: few beside the others, and an index of their own (transactions_open). Sums come from their
 * holds, since `locked` of all ledger accounts would be a scan of the whole table; the ledger's checks compare the two.
 */

const age = (since: string) => `coalesce(extract(epoch from clock_timestamp() - ${since}), 0)::float8`;

interface OpenRow {
  chain: string;
  type: string;
  status: string;
  count: number;
  age: number;
}

const openStatuses = ['PENDING', 'AWAITING_APPROVAL', 'SIGNING', 'SUBMITTED', 'NEEDS_ATTENTION'];

/**
 * Since when it waits for the gateway: an approval is waited for before that. One that is parked counts from its acceptance, so that one which was
 * parked late is shown at once.
 */
const waitsSince = `case when status = 'NEEDS_ATTENTION' then created_at else greatest(created_at, approved_at, signing_begun_at) end`;

/** By chain, type and state. */
export async function collectOpen(manager: EntityManager, registry: ChainRegistry): Promise<void> {
  const rows = await manager.query<OpenRow[]>(
    `select chain, transaction_type as type, status, count(*)::int as count, ${age(`min(${waitsSince})`)} as age
       from transactions where ended_at is null group by chain, transaction_type, status`,
  );
  gauges.openTransactions.reset();
  gauges.oldestOpen.reset();
  for (const { name: chain } of registry.all)
    for (const type of [transferType, settlementType])
      for (const status of openStatuses) {
        gauges.openTransactions.set({ chain, type, status }, 0);
        gauges.oldestOpen.set({ chain, type, status }, 0);
      }
  for (const { count, age: seconds, ...labels } of rows) {
    gauges.openTransactions.set(labels, count);
    gauges.oldestOpen.set(labels, seconds);
  }
}

/** `s.at`: when transaction `t` has come into its state. */
const inStateSince =
  'cross join lateral (select max(at) as at from transaction_events e where e.tx_id = t.tx_id and e.status = t.status) s';

/** By the code that says why. */
export async function collectParked(manager: EntityManager): Promise<void> {
  const rows = await manager.query<{ chain: string; type: string; failure_code: string; count: number; age: number }[]>(
    `select chain, transaction_type as type, coalesce(failure_code, 'none') as failure_code, count(*)::int as count, ${age('min(s.at)')} as age
       from transactions t
      ${inStateSince}
      where t.ended_at is null and t.status = 'NEEDS_ATTENTION' group by chain, transaction_type, failure_code`,
  );
  gauges.parkedTransactions.reset();
  gauges.oldestParked.reset();
  for (const { count, age: seconds, ...labels } of rows) {
    gauges.parkedTransactions.set(labels, count);
    gauges.oldestParked.set(labels, seconds);
  }
}

/** Of a wait that is shorter than four hours in all, a quarter of it is near its end. */
const expiringHours = 1;

/** Approvals that are about to expire. */
export async function collectApprovals(manager: EntityManager, registry: ChainRegistry): Promise<void> {
  const rows = await manager.query<{ chain: string; count: number }[]>(
    `select t.chain, count(*)::int as count
       from transactions t
      ${inStateSince}
      where t.ended_at is null and t.status = 'AWAITING_APPROVAL'
        and t.approval_expires_at - clock_timestamp() < least(make_interval(hours => $1), (t.approval_expires_at - s.at) / 4)
      group by t.chain`,
    [expiringHours],
  );
  gauges.approvalsExpiring.reset();
  for (const { name: chain } of registry.all) gauges.approvalsExpiring.set({ chain }, 0);
  for (const { chain, count } of rows) gauges.approvalsExpiring.set({ chain }, count);
}

interface HeldRow {
  chain: string;
  asset: string;
  decimals: number;
  /** Atomic units. */
  amount: string;
  holds: number;
  age: number;
}

/** Amounts and fee bounds, by chain and asset. */
export async function collectHeld(manager: EntityManager, registry: ChainRegistry): Promise<void> {
  const rows = await manager.query<HeldRow[]>(
    `select t.chain, h.symbol as asset, max(h.decimals)::int as decimals, sum(h.amount)::text as amount,
            count(distinct t.tx_id)::int as holds, ${age('min(t.created_at)')} as age
       from transactions t
      cross join lateral (values (t.token_symbol, t.decimals, t.amount), (t.fee_symbol, t.fee_decimals, t.fee_locked)) as h (symbol, decimals, amount)
      where t.is_held and t.ended_at is null and h.amount > 0
      group by t.chain, h.symbol`,
  );
  for (const gauge of [gauges.lockedAmount, gauges.lockedHolds, gauges.oldestHold]) {
    gauge.reset();
    for (const { name: chain, native, tokens } of registry.all)
      for (const { symbol: asset } of [native, ...tokens]) gauge.set({ chain, asset }, 0);
  }
  for (const { chain, asset, decimals, amount, holds, age: seconds } of rows) {
    gauges.lockedAmount.set({ chain, asset }, Number(formatAmount(BigInt(amount), decimals)));
    gauges.lockedHolds.set({ chain, asset }, holds);
    gauges.oldestHold.set({ chain, asset }, seconds);
  }
}

/** Sent to a chain, and in no block as far as the follower has seen. */
export async function collectBroadcasts(manager: EntityManager, registry: ChainRegistry): Promise<void> {
  const rows = await manager.query<{ chain: string; count: number; age: number }[]>(
    `select t.chain, count(*)::int as count, ${age('min(a.first)')} as age
       from transactions t
      cross join lateral (
        select min(broadcast_at) as first, bool_or(block_number is not null) as is_included from transfer_attempts where tx_id = t.tx_id) a
      where t.ended_at is null and t.is_signed and a.first is not null and not a.is_included
      group by t.chain`,
  );
  for (const gauge of [gauges.broadcastsNotIncluded, gauges.oldestBroadcast]) {
    gauge.reset();
    for (const { name: chain } of registry.all) gauge.set({ chain }, 0);
  }
  for (const { chain, count, age: seconds } of rows) {
    gauges.broadcastsNotIncluded.set({ chain }, count);
    gauges.oldestBroadcast.set({ chain }, seconds);
  }
}
