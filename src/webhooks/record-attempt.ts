import type { DataSource, EntityManager } from 'typeorm';
import { audit } from '../audit/log';
import { inTransaction } from '../platform/database';
import { failAllPending } from './deliveries';
import { getFailingLimit, retryDelayMs } from './retry';
import type { HttpOutcome } from './http-client';

interface DeliveryRow {
  attempts: number;
  round_attempts: number;
}

interface EndpointRow {
  webhook_id: string;
  client_id: string;
  url: string;
  status: string;
  /** Seconds since the first of the consecutive failures; null when the last attempt succeeded. */
  failing_for: number | null;
}

const isSuccess = ({ statusCode }: HttpOutcome): boolean => statusCode !== null && statusCode >= 200 && statusCode < 300;

/**
 * Records an attempt and its consequence: delivered, retry later, failed finally, or endpoint disabled. Locks the endpoint, then the
 * delivery.
 */
export function recordAttempt(
  database: DataSource,
  { deliveryId, url }: { deliveryId: string; url: string },
  sent: HttpOutcome,
  schedule: readonly number[],
): Promise<'delivered' | 'failed' | 'disabled'> {
  return inTransaction(database, async (manager) => {
    const endpoint = await updateFailingSince(manager, deliveryId, isSuccess(sent));
    const [delivery] = await manager.query<DeliveryRow[]>(
      `select attempts, round_attempts from webhook_deliveries where delivery_id = $1 for no key update`,
      [deliveryId],
    );
    if (!endpoint || !delivery) throw new Error(`delivery ${deliveryId} no longer exists`);
    await insertAttempt(manager, deliveryId, delivery.attempts + 1, sent);
    if (isSuccess(sent)) {
      await manager.query(
        `update webhook_deliveries set status = 'delivered', attempts = attempts + 1, round_attempts = round_attempts + 1,
                ended_at = clock_timestamp(), next_attempt_at = null, attempting_until = null, undispatched_since = null where delivery_id = $1`,
        [deliveryId],
      );
      return 'delivered';
    }
    const retryInMs = retryDelayMs(schedule, delivery.round_attempts + 1, sent.retryAfter);
    await manager.query(
      // a delivery that has ended in the meantime, because its endpoint was disabled, keeps its status
      `update webhook_deliveries
          set attempts = attempts + 1, round_attempts = round_attempts + 1, attempting_until = null,
              status = case when status = 'pending' and $2::float8 is null then 'failed' else status end,
              ended_at = case when status = 'pending' and $2 is null then clock_timestamp() else ended_at end,
              next_attempt_at = case when status = 'pending' then clock_timestamp() + $2 * interval '1 millisecond' end,
              undispatched_since = case when $2 is not null then undispatched_since end
        where delivery_id = $1`,
      [deliveryId, retryInMs],
    );
    const reason = sent.statusCode === 410 ? 'gone' : (endpoint.failing_for ?? 0) >= getFailingLimit(schedule) ? 'failing' : null;
    // the response of an earlier url does not count against the current one
    if (reason === null || endpoint.status === 'disabled' || endpoint.url !== url) return 'failed';
    await disable(manager, endpoint, reason);
    return 'disabled';
  });
}

/** A success clears `failing_since`; a failure sets it unless it is set. The row is locked and written only if that changes it. */
async function updateFailingSince(
  manager: EntityManager,
  deliveryId: string,
  success: boolean,
): Promise<EndpointRow | undefined> {
  const read = `select w.webhook_id, w.client_id, w.url, w.status, extract(epoch from clock_timestamp() - w.failing_since)::float8 as failing_for
                  from webhook_endpoints w join webhook_deliveries d using (webhook_id) where d.delivery_id = $1`;
  const [current] = await manager.query<EndpointRow[]>(read, [deliveryId]);
  if (!current || (success && current.failing_for === null)) return current;
  const [endpoint] = await manager.query<EndpointRow[]>(`${read} for no key update of w`, [deliveryId]);
  if (!endpoint || (!success && endpoint.failing_for !== null)) return endpoint;
  await manager.query(
    `update webhook_endpoints set failing_since = case when $2 then null else clock_timestamp() end where webhook_id = $1`,
    [endpoint.webhook_id, success],
  );
  return endpoint;
}

async function insertAttempt(manager: EntityManager, deliveryId: string, attempt: number, sent: HttpOutcome): Promise<void> {
  const { at, durationMs, statusCode, error, excerpt } = sent;
  await manager.query(
    `insert into webhook_attempts (delivery_id, attempt, at, duration_ms, status_code, error, excerpt) values ($1, $2, $3, $4, $5, $6, $7)`,
    [deliveryId, attempt, at, durationMs, statusCode, error, excerpt],
  );
}

/** Disables an endpoint because of its receiver's responses; informs the client's other endpoints and writes the audit log. */
async function disable(
  manager: EntityManager,
  { webhook_id: webhookId, client_id: clientId, url }: EndpointRow,
  reason: 'gone' | 'failing',
): Promise<void> {
  await manager.query(
    `update webhook_endpoints set status = 'disabled', disabled_reason = $2, disabled_at = now(), updated_at = now() where webhook_id = $1`,
    [webhookId, reason],
  );
  await failAllPending(manager, webhookId);
  await manager.query(
    `select enqueue_webhook_event($1, 'webhook.disabled', $2, jsonb_build_object('webhook_id', $2::uuid, 'url', $3::text, 'reason', $4::text, 'disabled_at', now()))`,
    [clientId, webhookId, url, reason],
  );
  await audit(manager, {
    action: 'webhook.disabled',
    outcome: 'success',
    actor: { type: 'system', id: 'webhooks' },
    clientId,
    subject: { type: 'webhook', id: webhookId },
    detail: { reason },
  });
}
