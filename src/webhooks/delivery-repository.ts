import type { DataSource, EntityManager } from 'typeorm';
import { type ColumnValues, findPage, type ListedTable } from '../http/list-page';
import type { LimitOffset } from '../http/pagination';
import { GatewayError } from '../platform/errors';
import { isUuid } from '../platform/ids';

export interface DeliveryRow {
  delivery_id: string;
  webhook_id: string;
  event_id: string;
  kind: string;
  subject_id: string;
  status: string;
  attempts: number;
  next_attempt_at: Date | null;
  created_at: Date;
  ended_at: Date | null;
  /** `at` in the format of Postgres' JSON functions. */
  attempt_log: {
    attempt: number;
    at: string;
    duration_ms: number;
    status_code: number | null;
    error: string | null;
    excerpt: string;
  }[];
}

const maxLoggedAttempts = 20;
const resendBatchSize = 1_000;
const maxPendingTests = 200;

const fields = /* sql */ `
  t.delivery_id, t.webhook_id, t.event_id, e.kind, t.subject_id, t.status, t.attempts, t.next_attempt_at, t.created_at, t.ended_at,
  coalesce((select json_agg(to_jsonb(a) - 'delivery_id' order by a.attempt)
              from (select * from webhook_attempts a where a.delivery_id = t.delivery_id order by a.attempt desc limit ${maxLoggedAttempts}) a),
           '[]') as attempt_log`;
const withEvents = 'left join webhook_events e on e.event_id = t.event_id';
const listed: ListedTable = { table: 'webhook_deliveries', orderedBy: 'position', select: fields, joins: withEvents };
/** Assignments that queue a delivery; the retry schedule starts again. An attempt that is being made is the first one of it. */
const queued = /* sql */ `
  status = 'pending', ended_at = null, round_attempts = 0, next_attempt_at = greatest(clock_timestamp(), attempting_until),
  undispatched_since = clock_timestamp()`;

/** Deliveries of an endpoint, newest event first. The caller has checked that the endpoint belongs to the client. */
export class DeliveryRepository {
  constructor(private readonly database: DataSource) {}

  async list(webhookId: string, status: string | undefined, page: LimitOffset): Promise<[DeliveryRow[], number]> {
    const where: ColumnValues<'webhook_id' | 'status'> = [['webhook_id', webhookId]];
    if (status !== undefined) where.push(['status', status]);
    const counted = { list: 'deliveries', subjectId: webhookId, part: status } as const;
    const [rows, total] = await findPage(this.database.manager, listed, { where }, counted, page);
    return [rows as unknown as DeliveryRow[], total];
  }

  async find(webhookId: string, deliveryId: string): Promise<DeliveryRow | null> {
    if (!isUuid(deliveryId)) return null;
    const [row] = await this.database.query<DeliveryRow[]>(
      `select ${fields} from webhook_deliveries t ${withEvents} where t.webhook_id = $1 and t.delivery_id = $2`,
      [webhookId, deliveryId],
    );
    return row ?? null;
  }

  /** Queues a delivery again, in any status; one that waits for its next retry is due immediately, unless an attempt is being made. */
  async resend(manager: EntityManager, webhookId: string, deliveryId: string): Promise<void> {
    await manager.query(`update webhook_deliveries set ${queued} where webhook_id = $1 and delivery_id = $2`, [
      webhookId,
      deliveryId,
    ]);
  }

  /** Queues failed deliveries of events since then again, oldest first. Returns how many, and whether some remain. */
  async resendFailed(manager: EntityManager, webhookId: string, since: Date): Promise<{ resent: number; hasMore: boolean }> {
    const failed = `webhook_id = $1 and status = 'failed' and created_at >= $2`;
    const [, resent] = await manager.query<[unknown[], number]>(
      `update webhook_deliveries set ${queued} where delivery_id in (
         select delivery_id from webhook_deliveries where ${failed} order by created_at limit ${resendBatchSize} for no key update)`,
      [webhookId, since],
    );
    const more = await manager.query<unknown[]>(`select 1 from webhook_deliveries where ${failed} limit 1`, [webhookId, since]);
    return { resent, hasMore: more.length > 0 };
  }

  /**
   * Adds a webhook.test event for this endpoint only; the caller has locked the endpoint. No effect when the id exists: an earlier
   * attempt of the same request has created it.
   * @throws GatewayError business_error while too many test events are pending.
   */
  async addTest(manager: EntityManager, clientId: string, webhookId: string, eventId: string): Promise<string> {
    const pending = await manager.query<{ event_id: string }[]>(
      // only test events are their own subject
      `select event_id from webhook_deliveries where webhook_id = $1 and status = 'pending' and subject_id = event_id limit ${maxPendingTests}`,
      [webhookId],
    );
    const select = `select delivery_id from webhook_deliveries where webhook_id = $1 and event_id = $2`;
    const earlier = await manager.query<unknown[]>(select, [webhookId, eventId]);
    if (earlier.length === 0 && pending.length >= maxPendingTests)
      throw new GatewayError('business_error', `${maxPendingTests} test events are already pending for this webhook`);
    await manager.query(
      `with event as (
         insert into webhook_events (event_id, client_id, kind, subject_id, snapshot)
         values ($1, $2, 'webhook.test', $1, jsonb_build_object('webhook_id', $3::uuid, 'message', 'This is a test event'))
         on conflict (event_id) do nothing returning event_id, subject_id, position)
       insert into webhook_deliveries (webhook_id, event_id, subject_id, position)
         select $3, event_id, subject_id, position from event`,
      [eventId, clientId, webhookId],
    );
    const [row] = await manager.query<{ delivery_id: string }[]>(select, [webhookId, eventId]);
    if (!row) throw new Error(`test event ${eventId} was not stored`);
    return row.delivery_id;
  }
}
