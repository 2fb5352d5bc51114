import type { Client } from '@temporalio/client';
import type { DataSource, EntityManager } from 'typeorm';
import {
  type ApplyBlacklistRequest,
  type BlacklistChanges,
  blacklistChangedSignal,
  maxBlacklistChanges,
} from '../messages/blacklist';
import { hashPage } from '../platform/page-hash';
import { searchAttributes } from '../messages/progress';
import { mainTaskQueue } from '../messages/task-queues';
import { distributeBlacklistWorkflowId, workflowTypes } from '../messages/workflow-ids';
import { assertRoomForPageOrder } from '../orders/order-limits';
import type { Orders } from '../orders/orders';
import { inTransaction } from '../platform/database';
import { notFound } from '../platform/errors';
import { isUuid } from '../platform/ids';
import type { Logger } from '../platform/logging';
import { withinMs } from '../platform/temporal';

const startTimeoutMs = 5_000;
/** Clients per round. */
const batch = 100;
/**
 * Every client's list is compared with the nodes' copies this often even if nothing has changed: a run or a node's database may be
 * lost.
 */
const repeatAfterMinutes = 60;

interface ChangeRow {
  version: string;
  chain: string;
  address_key: string;
  listed: boolean;
}

/** Changes since a version, oldest first: the last change of each address, and one page at most. */
export async function blacklistChanges(
  manager: EntityManager,
  { clientId, after }: { clientId: string; after: number },
): Promise<BlacklistChanges> {
  const rows = await manager.query<ChangeRow[]>(
    `select version, chain, address_key, listed from blacklist_changes
      where client_id = $1 and version > $2 order by version limit $3`,
    [clientId, after, maxBlacklistChanges],
  );
  return {
    clientId,
    after,
    through: Number(rows.at(-1)?.version ?? after),
    changes: rows.map(({ chain, address_key: addressKey, listed }) => ({ chain, addressKey, listed })),
  };
}

/** A page with the order that permits it to the nodes; null when nothing is newer. @throws GatewayError not_found, rate_limited. */
export async function orderBlacklistPage(
  { database, orders }: { database: DataSource; orders: Orders },
  { clientId, after }: { clientId: string; after: number },
): Promise<ApplyBlacklistRequest | null> {
  if (!isUuid(clientId) || !Number.isSafeInteger(after) || after < 0) throw notFound('client');
  const ordered = await inTransaction(database, async (manager) => {
    const { through, changes } = await blacklistChanges(manager, { clientId, after });
    if (changes.length === 0) return null;
    await assertRoomForPageOrder(manager, { clientId, after });
    const sha256 = hashPage(changes);
    return {
      claims: await orders.issue(manager, { kind: 'blacklist_page', client_id: clientId, after, through, sha256 }),
      changes,
    };
  });
  return ordered && { order: await orders.sign(ordered.claims), changes: ordered.changes };
}

/**
 * Signals the workflows that update the nodes' copies about changes since the last signal. After a crash before the record a
 * workflow is signalled twice, which is harmless.
 */
export async function dispatchBlacklists(database: DataSource, temporal: Client, log: Logger): Promise<void> {
  const due = await database.query<{ client_id: string; version: string }[]>(
    `select client_id, version from blacklist_versions
      where dispatched < version or dispatched_at < now() - make_interval(mins => $2) order by dispatched_at limit $1`,
    [batch, repeatAfterMinutes],
  );
  for (const { client_id: clientId, version } of due) {
    // a failure for one client must not affect the others
    await notify(database, temporal, clientId, version).catch((err: unknown) =>
      log.warn({ err, client_id: clientId }, 'could not dispatch a blacklist'),
    );
  }
}

async function notify(database: DataSource, temporal: Client, clientId: string, version: string): Promise<void> {
  await withinMs(temporal, startTimeoutMs, () =>
    temporal.workflow.signalWithStart(workflowTypes.distributeBlacklist, {
      workflowId: distributeBlacklistWorkflowId(clientId),
      taskQueue: mainTaskQueue,
      args: [{ clientId }],
      signal: blacklistChangedSignal,
      typedSearchAttributes: [{ key: searchAttributes.clientId, value: clientId }],
      staticSummary: 'Blacklist for the signing nodes',
    }),
  );
  await database.query(
    'update blacklist_versions set dispatched = greatest(dispatched, $2), dispatched_at = now() where client_id = $1',
    [clientId, version],
  );
}
