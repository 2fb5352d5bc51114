import type { DataSource, EntityManager } from 'typeorm';
import type { DeliveryStream } from '../messages/webhooks';
import type { WebhookEntity } from './entity';
import type { EventKind, StoredEvent } from './events';

/**
 * So many failed retries of an event hold back the later ones of its subject (about 35 minutes by the usual schedule); then
 * they are sent past it: one event that a receiver cannot take must not keep all others from it for days.
 */
const retriesInOrder = 3;

export interface DueDelivery extends StoredEvent {
  deliveryId: string;
  eventId: string;
  /** 0: due now. */
  waitMs: number;
  enabled: boolean;
  /** Since the unbroken run of failures of its endpoint began; null when the last attempt succeeded. */
  failingForSeconds: number | null;
  endpoint: Pick<WebhookEntity, 'webhookId' | 'url' | 'secret' | 'previousSecret' | 'previousSecretUntil'>;
}

interface DueRow {
  delivery_id: string;
  event_id: string;
  kind: EventKind;
  snapshot: Record<string, unknown>;
  created_at: Date;
  wait_ms: string;
  enabled: boolean;
  failing_for: number | null;
  url: string;
  secret: Buffer | null;
  previous_secret: Buffer | null;
  previous_secret_until: Date | null;
}

/** Of a delivery `d` that is pending: no earlier one of its lane has to be tried before it. */
export const notHeldBack = /* sql */ `not exists (
  select 1 from webhook_deliveries earlier
   where earlier.webhook_id = d.webhook_id and earlier.subject_id = d.subject_id and earlier.status = 'pending'
     and earlier.position < d.position and earlier.round_attempts <= ${retriesInOrder})`;

/** Those of a lane that nothing holds back, the one due first in front. */
const candidates = /* sql */ `
  select d.delivery_id, d.event_id,
         greatest(0, ceil(extract(epoch from d.next_attempt_at - clock_timestamp()) * 1000)) as wait_ms
    from webhook_deliveries d
   where d.webhook_id = $1 and d.subject_id = $2 and d.status = 'pending' and ${notHeldBack}
   order by d.next_attempt_at, d.position limit 1`;

export async function nextDelivery(database: DataSource, { webhookId, subjectId }: DeliveryStream): Promise<DueDelivery | null> {
  const [row] = await database.query<DueRow[]>(
    `select c.*, e.kind, e.snapshot, e.created_at, w.status = 'enabled' as enabled,
            extract(epoch from clock_timestamp() - w.failing_since)::float8 as failing_for,
            w.url, w.secret, w.previous_secret, w.previous_secret_until
       from (${candidates}) c join webhook_events e using (event_id), webhook_endpoints w where w.webhook_id = $1`,
    [webhookId, subjectId],
  );
  if (!row) return null;
  return {
    deliveryId: row.delivery_id,
    eventId: row.event_id,
    kind: row.kind,
    snapshot: row.snapshot,
    createdAt: row.created_at,
    waitMs: Number(row.wait_ms),
    enabled: row.enabled,
    failingForSeconds: row.failing_for,
    endpoint: {
      webhookId,
      url: row.url,
      secret: row.secret,
      previousSecret: row.previous_secret,
      previousSecretUntil: row.previous_secret_until,
    },
  };
}

/** Milliseconds until the next attempt of a lane; null when nothing is pending. */
export async function findWait(database: DataSource, { webhookId, subjectId }: DeliveryStream): Promise<number | null> {
  const [row] = await database.query<{ wait_ms: string }[]>(candidates, [webhookId, subjectId]);
  return row ? Number(row.wait_ms) : null;
}

/** Deliveries an endpoint is still to get, counted up to `atMost`. */
export async function countPending(database: DataSource, webhookId: string, atMost: number): Promise<number> {
  const [row] = await database.query<{ pending: number }[]>(
    `select count(*)::int as pending from (select 1 from webhook_deliveries where webhook_id = $1 and status = 'pending' limit $2) p`,
    [webhookId, atMost],
  );
  return row?.pending ?? 0;
}

/** Due later, as its endpoint is busy; not an attempt. The row says so, lest it be taken for one whose workflow was lost. */
export async function defer(database: DataSource, deliveryId: string, waitMs: number): Promise<void> {
  await database.query(
    `update webhook_deliveries set next_attempt_at = clock_timestamp() + $2 * interval '1 millisecond'
      where delivery_id = $1 and status = 'pending' and next_attempt_at <= clock_timestamp()`,
    [deliveryId, waitMs],
  );
}

/** What ends a delivery that is still to be made. */
const ended = `status = 'failed', ended_at = clock_timestamp(), next_attempt_at = null, undispatched_since = null`;

/** What an endpoint does not get any more once it is disabled; a resend takes it up again. */
export async function failAllPending(manager: EntityManager, webhookId: string): Promise<void> {
  await manager.query(`update webhook_deliveries set ${ended} where webhook_id = $1 and status = 'pending'`, [webhookId]);
}

/** A delivery written at the moment its endpoint was disabled. */
export async function failPending(database: DataSource, { webhookId, subjectId }: DeliveryStream): Promise<void> {
  await database.query(
    `update webhook_deliveries set ${ended} where webhook_id = $1 and subject_id = $2 and status = 'pending'
        and exists (select 1 from webhook_endpoints w where w.webhook_id = $1 and w.status = 'disabled')`,
    [webhookId, subjectId],
  );
}
