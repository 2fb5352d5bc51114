import type { DataSource, EntityManager } from 'typeorm';
import type { DeliveryStream } from '../messages/webhooks';
import type { WebhookEntity } from './entity';
import type { EventKind, StoredEvent } from './events';

/**
 * Later events of the same subject wait for this many failed retries of an event (about 35 minutes with the default schedule). After
 * that they are sent before it: one event that a receiver cannot process must not delay all others for days.
 */
const retriesInOrder = 3;

/**
 * An attempt takes its delivery for this long: due again only then, should its worker die. More than an attempt takes with its wait for a
 * permit and for a database that answers; beside one that does not, an event may be sent twice.
 */
const attemptClaimSeconds = 30;
/** When somebody else has taken the delivery at this very moment. */
const lostRaceMs = 1_000;

export interface NextDelivery extends StoredEvent {
  deliveryId: string;
  eventId: string;
  /** Its time of the next attempt while the caller has it, with full precision; null: it is not the caller's. */
  claim: string | null;
  /** Milliseconds until it is due, for a delivery that is not the caller's. */
  waitMs: number;
  /** Never attempted, and no workflow has been told of it: that of a dispatcher. */
  isFirst: boolean;
  enabled: boolean;
  /** Seconds since the first of the endpoint's consecutive failures; null when the last attempt succeeded. */
  failingForSeconds: number | null;
  endpoint: Pick<WebhookEntity, 'webhookId' | 'clientId' | 'url' | 'secret' | 'previousSecret' | 'previousSecretUntil'>;
}

interface DueRow {
  delivery_id: string;
  event_id: string;
  kind: EventKind;
  snapshot: Record<string, unknown>;
  created_at: Date;
  wait_ms: string;
  is_first: boolean;
  claim: string | null;
  enabled: boolean;
  failing_for: number | null;
  client_id: string;
  url: string;
  secret: Buffer | null;
  previous_secret: Buffer | null;
  previous_secret_until: Date | null;
}

/** Condition for a pending delivery `d`: no earlier delivery of its stream has to be attempted before it. */
export const isUnblocked = /* sql */ `not exists (
  select 1 from webhook_deliveries earlier
   where earlier.webhook_id = d.webhook_id and earlier.subject_id = d.subject_id and earlier.status = 'pending'
     and earlier.position < d.position and earlier.round_attempts <= ${retriesInOrder})`;

/** The unblocked delivery of a stream that is due first. */
const nextUnblocked = /* sql */ `
  select d.delivery_id, d.event_id, d.attempts = 0 and d.undispatched_since is not null as is_first,
         greatest(0, ceil(extract(epoch from d.next_attempt_at - clock_timestamp()) * 1000)) as wait_ms
    from webhook_deliveries d
   where d.webhook_id = $1 and d.subject_id = $2 and d.status = 'pending' and ${isUnblocked}
   order by d.next_attempt_at, d.position limit 1`;

/**
 * Finds the next delivery of a stream, and takes it if it is due. Of several callers one gets it; it stays pending and therefore in front
 * of later ones.
 * @param firstOnly takes it only if it is a dispatcher's
 */
export async function takeNext(
  database: DataSource,
  { webhookId, subjectId }: DeliveryStream,
  { firstOnly = false } = {},
): Promise<NextDelivery | null> {
  const [row] = await database.query<DueRow[]>(
    // a locked row is somebody else's: whoever waited for it would keep one of few connections from all other clients
    `with c as (${nextUnblocked}), due as (
       select d.delivery_id from webhook_deliveries d join c using (delivery_id)
        where d.status = 'pending' and d.next_attempt_at <= clock_timestamp() and (not $3 or c.is_first)
          for update of d skip locked), taken as (
       update webhook_deliveries d set next_attempt_at = until, attempting_until = until
         from due, (select clock_timestamp() + make_interval(secs => ${attemptClaimSeconds}) as until offset 0) lease
        where d.delivery_id = due.delivery_id
       returning d.next_attempt_at::text as claim)
     select c.*, (select claim from taken) as claim, e.kind, e.snapshot, e.created_at, w.status = 'enabled' as enabled,
            extract(epoch from clock_timestamp() - w.failing_since)::float8 as failing_for,
            w.client_id, w.url, w.secret, w.previous_secret, w.previous_secret_until
       from c join webhook_events e using (event_id), webhook_endpoints w where w.webhook_id = $1`,
    [webhookId, subjectId, firstOnly],
  );
  if (!row) return null;
  return {
    deliveryId: row.delivery_id,
    eventId: row.event_id,
    kind: row.kind,
    snapshot: row.snapshot,
    createdAt: row.created_at,
    claim: row.claim,
    waitMs: Math.max(Number(row.wait_ms), lostRaceMs),
    isFirst: row.is_first,
    enabled: row.enabled,
    failingForSeconds: row.failing_for,
    endpoint: {
      webhookId,
      clientId: row.client_id,
      url: row.url,
      secret: row.secret,
      previousSecret: row.previous_secret,
      previousSecretUntil: row.previous_secret_until,
    },
  };
}

/** Milliseconds until the next attempt of a stream; null when nothing is pending. */
export async function findWait(database: DataSource, { webhookId, subjectId }: DeliveryStream): Promise<number | null> {
  const [row] = await database.query<{ wait_ms: string }[]>(nextUnblocked, [webhookId, subjectId]);
  return row ? Number(row.wait_ms) : null;
}

/** Number of pending deliveries of an endpoint, counted up to `atMost`. */
export async function countPending(database: DataSource, webhookId: string, atMost: number): Promise<number> {
  const [row] = await database.query<{ pending: number }[]>(
    `select count(*)::int as pending from (select 1 from webhook_deliveries where webhook_id = $1 and status = 'pending' limit $2) p`,
    [webhookId, atMost],
  );
  return row?.pending ?? 0;
}

/**
 * Gives up a delivery that was taken, because its endpoint is busy or the attempt could not be made; this does not count as an attempt.
 * No effect if somebody else has changed its time.
 */
export async function defer(
  database: DataSource,
  { deliveryId, claim }: Pick<NextDelivery, 'deliveryId' | 'claim'>,
  waitMs: number,
): Promise<void> {
  await database.query(
    `update webhook_deliveries set next_attempt_at = clock_timestamp() + $3 * interval '1 millisecond', attempting_until = null
      where delivery_id = $1 and status = 'pending' and next_attempt_at = $2::timestamptz`,
    [deliveryId, claim, waitMs],
  );
}

/** Assignments that fail a pending delivery. */
const failed = `status = 'failed', ended_at = clock_timestamp(), next_attempt_at = null, undispatched_since = null`;

/** Fails all pending deliveries of an endpoint that is disabled; a resend queues them again. */
export async function failAllPending(manager: EntityManager, webhookId: string): Promise<void> {
  await manager.query(`update webhook_deliveries set ${failed} where webhook_id = $1 and status = 'pending'`, [webhookId]);
}

/** Fails deliveries that were inserted at the moment the endpoint was disabled. */
export async function failPending(database: DataSource, { webhookId, subjectId }: DeliveryStream): Promise<void> {
  await database.query(
    `update webhook_deliveries set ${failed} where webhook_id = $1 and subject_id = $2 and status = 'pending'
        and exists (select 1 from webhook_endpoints w where w.webhook_id = $1 and w.status = 'disabled')`,
    [webhookId, subjectId],
  );
}
