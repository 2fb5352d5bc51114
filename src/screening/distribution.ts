import type { Client } from '@temporalio/client';
import type { DataSource, EntityManager } from 'typeorm';
import { type BlacklistChanges, blacklistChangedSignal, maxBlacklistChanges } from '../messages/blacklist';
import { searchAttributes } from '../messages/progress';
import { mainTaskQueue } from '../messages/task-queues';
import { distributeBlacklistWorkflowId, workflowTypes } from '../messages/workflow-ids';
import { withinMs } from '../platform/temporal';
import type { Logger } from '../platform/logging';

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
