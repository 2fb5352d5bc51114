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
/** How long the other workers leave a client to the one that signals its workflow. */
const claimSeconds = 10;
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
 * Signals the workflows that update the nodes' copies about changes since the last signal. Several workers may run it: each takes one
 * client after the other that no other has taken. After a crash before the record a workflow is signalled twice, which is harmless.
 */
export async function dispatchBlacklists(database: DataSource, temporal: Client, log: Logger): Promise<void> {
  const tried: string[] = [];
  while (tried.length < batch) {
    const due = await claim(database, tried);
    if (!due) return;
    tried.push(due.client_id);
    try {
      await notify(database, temporal, due.client_id, due.version);
    } catch (err) {
      // a failure for one client must not affect the others
      log.warn({ err, client_id: due.client_id }, 'could not dispatch a blacklist');
      await database.query('update blacklist_versions set claimed_until = null where client_id = $1', [due.client_id]);
    }
  }
}

const isChanged = 'dispatched < version';
const isOld = `dispatched_at < now() - interval '${repeatAfterMinutes} minutes'`;
/** Clients of which one is taken: more than other workers can have taken. */
const candidates = 10 * batch;

/** The client that is due for longest, but for those that others have taken. Parameter: clients that are left out. */
export const dueBlacklist = /* sql */ `
  select client_id from blacklist_versions
   where client_id = any (array(select client_id from blacklist_versions where ${isChanged} limit ${candidates})
       || array(select client_id from blacklist_versions where ${isOld} order by dispatched_at limit ${candidates}))
     and (${isChanged} or ${isOld}) and (claimed_until is null or claimed_until <= clock_timestamp()) and client_id <> all ($1::uuid[])
   order by dispatched_at limit 1 for update skip locked`;

/** The row is not locked while its workflow is signalled: a client that changes its list would wait. */
async function claim(database: DataSource, tried: string[]): Promise<{ client_id: string; version: string } | undefined> {
  const [[due]] = await database.query<[{ client_id: string; version: string }[], number]>(
    `update blacklist_versions set claimed_until = clock_timestamp() + interval '${claimSeconds} seconds'
      where client_id = (${dueBlacklist}) returning client_id, version`,
    [tried],
  );
  return due;
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
    `update blacklist_versions set dispatched = greatest(dispatched, $2), dispatched_at = now(), claimed_until = null where client_id = $1`,
    [clientId, version],
  );
}
