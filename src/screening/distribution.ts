import type { Client } from '@temporalio/client';
import type { DataSource, EntityManager } from 'typeorm';
import {
  type ApplyBlacklistRequest,
  type BlacklistChanges,
  blacklistChangedSignal,
  maxBlacklistChanges,
} from '../messages/blacklist';
import { hashPage } from '../messages/page-hash';
import { searchAttributes } from '../messages/progress';
import { mainTaskQueue } from '../messages/task-queues';
import { distributeBlacklistWorkflowId, workflowTypes } from '../messages/workflow-ids';
import type { Orders } from '../orders/orders';
import { inTransaction } from '../platform/database';
import { notFound } from '../platform/errors';
import { isUuid } from '../platform/ids';
import type { Logger } from '../platform/logging';
import { withinMs } from '../platform/temporal';

const startTimeoutMs = 5_000;
/** Clients a round: more wait for the next one. */
const batch = 100;
/** Every client's list is compared with the nodes' this often even if nothing has changed: a run or a node's database may be lost. */
const repeatAfterMinutes = 60;

interface ChangeRow {
  version: string;
  chain: string;
  address_key: string;
  listed: boolean;
}

/** What has changed since a version, oldest first: of each address its last change alone, and one page at most. */
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

/** A page with the order that permits it to the nodes; null when nothing is newer. @throws GatewayError not_found. */
export async function orderBlacklistPage(
  { database, orders }: { database: DataSource; orders: Orders },
  { clientId, after }: { clientId: string; after: number },
): Promise<ApplyBlacklistRequest | null> {
  if (!isUuid(clientId) || !Number.isSafeInteger(after) || after < 0) throw notFound('client');
  const ordered = await inTransaction(database, async (manager) => {
    const { through, changes } = await blacklistChanges(manager, { clientId, after });
    if (changes.length === 0) return null;
    const sha256 = hashPage(changes);
    return {
      claims: await orders.issue(manager, { kind: 'blacklist_page', client_id: clientId, after, through, sha256 }),
      changes,
    };
  });
  return ordered && { order: await orders.sign(ordered.claims), changes: ordered.changes };
}

/**
 * Tells the workflows that bring blacklists to the nodes what has changed since they were told last. A crash before that is
 * on record tells them twice, which does no harm.
 */
export async function dispatchBlacklists(database: DataSource, temporal: Client, log: Logger): Promise<void> {
  const due = await database.query<{ client_id: string; version: string }[]>(
    `select client_id, version from blacklist_versions
      where dispatched < version or told_at < now() - make_interval(mins => $2) order by told_at limit $1`,
    [batch, repeatAfterMinutes],
  );
  for (const { client_id: clientId, version } of due) {
    // one client's trouble is not the others'
    await tell(database, temporal, clientId, version).catch((err: unknown) =>
      log.warn({ err, client_id: clientId }, 'could not dispatch a blacklist'),
    );
  }
}

async function tell(database: DataSource, temporal: Client, clientId: string, version: string): Promise<void> {
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
    'update blacklist_versions set dispatched = greatest(dispatched, $2), told_at = now() where client_id = $1',
    [clientId, version],
  );
}
