import type { EntityManager } from 'typeorm';
import type { ChainRegistry } from '../chains/registry';
import { outboxKinds } from '../outbox/outbox';
import * as gauges from './metrics';

/** What waits: blocks for the follower, messages for workflows, webhooks for the dispatcher, keys for wallets. */

const age = (since: string) => `coalesce(extract(epoch from clock_timestamp() - ${since}), 0)::float8`;

/** Rows that are counted; a longer backlog is shown as this number. */
const maxCounted = 100_000;

/** A chain that is not enabled any more is left out: its cursor stays. */
export async function collectFollowers(manager: EntityManager, registry: ChainRegistry): Promise<void> {
  const rows = await manager.query<{ chain: string; head: number; behind: number; idle: number }[]>(
    `select chain, head_block::float8 as head, greatest(head_block - next_block + 1, 0)::float8 as behind, ${age('updated_at')} as idle
       from chain_cursors`,
  );
  for (const gauge of [gauges.headBlock, gauges.followerBehind, gauges.followerIdle]) gauge.reset();
  for (const { chain, head, behind, idle } of rows.filter((row) => registry.find(row.chain))) {
    gauges.headBlock.set({ chain }, head);
    gauges.followerBehind.set({ chain }, behind);
    gauges.followerIdle.set({ chain }, idle);
  }
}

/** By kind, and for starts by chain. The table is short: what is delivered is deleted, and what waits has a limit. */
export async function collectOutbox(manager: EntityManager): Promise<void> {
  const rows = await manager.query<{ kind: string; chain: string; postponed: string; count: number; age: number }[]>(
    `select kind, coalesce(chain, 'none') as chain, is_postponed::text as postponed, count(*)::int as count, ${age('min(created_at)')} as age
       from workflow_outbox group by kind, chain, is_postponed`,
  );
  for (const gauge of [gauges.outboxMessages, gauges.oldestMessage]) {
    gauge.reset();
    for (const kind of outboxKinds) gauge.set({ kind, chain: 'none', postponed: 'false' }, 0);
  }
  for (const { count, age: seconds, ...labels } of rows) {
    gauges.outboxMessages.set(labels, count);
    gauges.oldestMessage.set(labels, seconds);
  }
}

export const waitingDeliveries = `
  select (select count(*)::int from (select from webhook_deliveries where status = 'pending' limit ${maxCounted}) p) as pending,
         (select count(*)::int from (select from webhook_deliveries where undispatched_since is not null limit ${maxCounted}) u) as undispatched,
         (select ${age('min(undispatched_since)')} from webhook_deliveries where undispatched_since is not null) as age`;

export async function collectWebhooks(manager: EntityManager): Promise<void> {
  const [row] = await manager.query<{ pending: number; undispatched: number; age: number }[]>(waitingDeliveries);
  gauges.pendingDeliveries.set(row?.pending ?? 0);
  gauges.undispatched.set(row?.undispatched ?? 0);
  gauges.oldestUndispatched.set(row?.age ?? 0);
}

/** `size`: keys that there may be. */
export async function collectKeyPool(manager: EntityManager, size: number): Promise<void> {
  const [row] = await manager.query<{ free: number }[]>(
    'select count(*)::int as free from (select from free_pooled_keys limit $1::int) free',
    [Math.max(size, 1)],
  );
  gauges.freePooledKeys.set(row?.free ?? 0);
}
