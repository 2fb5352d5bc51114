import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { DataSource } from 'typeorm';
import { searchAttributes } from '../messages/progress';
import { webhookTaskQueue } from '../messages/task-queues';
import { type DeliveryStream, deliveriesPendingSignal } from '../messages/webhooks';
import { webhookWorkflowId, workflowTypes } from '../messages/workflow-ids';
import type { Logger } from '../platform/logging';
import { Semaphore } from '../platform/semaphore';
import { isUnblocked } from './deliveries';
import type { EventKind } from './events';
import type { FirstAttempts } from './first-attempts';

const pollMs = 500;
/** An endpoint that has had as many as it may gets the next ones about as soon as half of them have ended. */
const heldBackPollMs = 100;
const batchSize = 100;
/**
 * Of one endpoint that a dispatcher is at: as many as may wait for their turn there, so that a burst stays in the outbox until then and starts no
 * workflows, and nobody waits behind it.
 */
const maxPerEndpoint = 40;
/** With more of them an endpoint is left out: it would fill every batch with what it has no room for. */
const lowWatermark = maxPerEndpoint / 2;
/** Streams that one dispatcher is at. */
const maxStreams = 500;
const signalTimeoutMs = 5_000;
/** A Temporal server that comes back after an outage is not asked everything at once. Who gets no turn in time is queued again. */
const signals = { permits: 10, maxWaiting: maxStreams, maxWaitMs: 10_000 };
/** What a dispatcher has taken and not ended or handed over is taken by another one after this time: longer than an attempt takes. */
const claimSeconds = 30;
/** Until it looks again whether an earlier attempt of the stream is over. */
const laterMs = 1_000;
/** Until it tries again to start a workflow: first attempts of other deliveries, which need no Temporal, must not wait behind these. */
const signalAgainMs = 15_000;
/** When an attempt is overdue for this long, the stream's workflow was lost (terminated, or Temporal lost its data) and is replaced. */
const overdueMinutes = 10;
const sweepEveryMs = 60_000;
const retentionDays = 30;
const sweepBatchSize = 1_000;
const batchesPerSweep = 10;

/** Those that wait for longest, but for those that others have taken and those of endpoints $1. */
export const dueDeliveries = /* sql */ `
  select delivery_id, webhook_id, undispatched_since as since from webhook_deliveries
   where undispatched_since <= clock_timestamp() and not webhook_id = any($1::uuid[])
   order by undispatched_since limit ${batchSize} for update skip locked`;

interface UndispatchedRow {
  delivery_id: string;
  webhook_id: string;
  subject_id: string;
  client_id: string;
  kind: EventKind;
  /** As text, with full precision, of the claim: the row is updated only if it was not queued again in the meantime. */
  since: string;
  /** Deliveries that were due and looked at, the ones that were left for later among them. */
  seen: number;
}

/** Signals the workflow of a stream that deliveries are pending; starts the workflow if it is not running. */
export type StartDelivery = (stream: DeliveryStream & { clientId: string; kind: EventKind }) => Promise<void>;

/** What a dispatcher does with what it has taken. */
export interface DispatchSteps {
  firstAttempts: FirstAttempts;
  startDelivery: StartDelivery;
}

/**
 * Reads the outbox and makes the first attempt of every delivery; those that fail or have to wait are a workflow's. Several workers may
 * run one: each takes deliveries that no other has taken. After a crash an attempt or a signal may be repeated, which is harmless.
 */
export class WebhookDispatcher {
  private nextSweepAt = 0;
  private streams = 0;
  /** Deliveries that it is at, by endpoint. */
  private readonly atEndpoint = new Map<string, number>();
  private readonly signals = new Semaphore(signals);
  private readonly failing = { claims: false, attempts: false };

  constructor(
    private readonly database: DataSource,
    private readonly steps: DispatchSteps,
    private readonly log: Logger,
  ) {}

  /**
   * Polls until `stop` is aborted, and ends when what it has begun has ended. Failures are retried; only the first of consecutive failures
   * is logged.
   */
  async run(stop: AbortSignal): Promise<void> {
    const open = new Set<Promise<void>>();
    while (!stop.aborted) {
      const busyBefore = this.busyEndpoints();
      const claimed = await this.claimSafely();
      const leftOut = [...busyBefore, ...this.busyEndpoints()];
      if (claimed.length > 0) {
        // not awaited: a slow receiver must not delay the others
        const handled = this.handle(claimed, stop).then(
          () => this.report('attempts', undefined),
          (err: unknown) => this.report('attempts', err),
        );
        open.add(handled);
        void handled.then(() => open.delete(handled));
      }
      if (Date.now() >= this.nextSweepAt) await this.sweepSafely();
      // an endpoint that has many is left out next time: others are behind it
      if ((claimed[0]?.seen ?? 0) < batchSize) await this.pause(stop, leftOut);
    }
    await Promise.all(open);
  }

  /** Until it polls again: sooner when an endpoint that is left out gets room, since a poll reads past all that wait for such ones. */
  private async pause(stop: AbortSignal, leftOut: string[]): Promise<void> {
    for (let waited = 0; waited < pollMs && !stop.aborted; waited += heldBackPollMs) {
      await delay(heldBackPollMs, undefined, { signal: stop }).catch(() => undefined);
      const busy = new Set(this.busyEndpoints());
      if (leftOut.some((webhookId) => !busy.has(webhookId))) return;
    }
  }

  private async claimSafely(): Promise<UndispatchedRow[]> {
    if (this.streams + batchSize > maxStreams) return [];
    try {
      const claimed = await this.claim();
      this.report('claims', undefined);
      return claimed;
    } catch (err) {
      this.report('claims', err);
      return [];
    }
  }

  private report(what: 'claims' | 'attempts', err: unknown): void {
    const wasFailing = this.failing[what];
    this.failing[what] = err !== undefined;
    if (err !== undefined && !wasFailing) this.log.warn({ err }, 'dispatching of webhook deliveries failed, trying again');
    if (err === undefined && wasFailing) this.log.info('dispatching of webhook deliveries works again');
  }

  /** A failed sweep is repeated when the next one is due: it never stops the dispatching of deliveries. */
  private async sweepSafely(): Promise<void> {
    this.nextSweepAt = Date.now() + sweepEveryMs;
    try {
      await this.sweep();
    } catch (err) {
      this.log.warn({ err }, 'webhook clean-up failed, trying again');
    }
  }

  /** Dispatches one batch, oldest first. Returns the number of deliveries. @throws when Postgres or Temporal does not respond. */
  async dispatch(): Promise<number> {
    const rows = await this.claim();
    await this.handle(rows);
    return rows.length;
  }

  private async handle(rows: UndispatchedRow[], stop?: AbortSignal): Promise<void> {
    const streams = new Map<string, UndispatchedRow[]>();
    for (const row of rows) {
      const key = `${row.webhook_id} ${row.subject_id}`;
      streams.set(key, [...(streams.get(key) ?? []), row]);
    }
    this.streams += streams.size;
    const handled = [...streams.values()].map((stream) =>
      this.handleStream(stream, stop).finally(() => {
        this.streams -= 1;
        this.addAtEndpoint(stream, -1);
      }),
    );
    const failed = (await Promise.allSettled(handled)).find((outcome) => outcome.status === 'rejected');
    if (failed) throw failed.reason;
  }

  /** The rows are not locked while attempts are made, which write them. What an endpoint has no room for stays as it is. */
  private async claim(): Promise<UndispatchedRow[]> {
    const rows = await this.database.query<UndispatchedRow[]>(
      `with due as (${dueDeliveries}),
       placed as (select *, row_number() over (partition by webhook_id order by since, delivery_id) as place from due),
       claimed as (
         update webhook_deliveries d set undispatched_since = clock_timestamp() + make_interval(secs => ${claimSeconds})
           from placed p left join unnest($2::uuid[], $3::int[]) as busy (webhook_id, count) on busy.webhook_id = p.webhook_id
          where d.delivery_id = p.delivery_id and p.place <= ${maxPerEndpoint} - coalesce(busy.count, 0)
         returning d.delivery_id, d.webhook_id, d.subject_id, d.event_id, d.undispatched_since, p.since)
       select d.delivery_id, d.webhook_id, d.subject_id, w.client_id, e.kind, d.undispatched_since::text as since,
              (select count(*)::int from due) as seen
         from claimed d join webhook_endpoints w using (webhook_id) join webhook_events e using (event_id) order by d.since`,
      [this.busyEndpoints(), [...this.atEndpoint.keys()], [...this.atEndpoint.values()]],
    );
    this.addAtEndpoint(rows, 1);
    return rows;
  }

  private busyEndpoints(): string[] {
    return [...this.atEndpoint].flatMap(([webhookId, count]) => (count > lowWatermark ? [webhookId] : []));
  }

  private addAtEndpoint(rows: readonly UndispatchedRow[], each: 1 | -1): void {
    for (const { webhook_id: webhookId } of rows) {
      const count = (this.atEndpoint.get(webhookId) ?? 0) + each;
      if (count > 0) this.atEndpoint.set(webhookId, count);
      else this.atEndpoint.delete(webhookId);
    }
  }

  private async handleStream(rows: UndispatchedRow[], stop?: AbortSignal): Promise<void> {
    const [first] = rows;
    if (!first) return;
    const stream = { webhookId: first.webhook_id, subjectId: first.subject_id };
    const deliveryIds = rows.map(({ delivery_id }) => delivery_id);
    // an attempt that could not even be made is the workflow's, where operators see why
    const failure: { error?: Error } = {};
    const outcome = await this.steps.firstAttempts(stream, deliveryIds, stop).catch((error: unknown) => {
      failure.error = error instanceof Error ? error : new Error(String(error));
      return 'workflow' as const;
    });
    if (outcome === 'later') await this.setUndispatchedSince(rows, laterMs);
    if (outcome === 'workflow') await this.handOver(rows, { ...stream, clientId: first.client_id, kind: first.kind });
    if (failure.error) throw failure.error;
  }

  private async handOver(rows: UndispatchedRow[], stream: Parameters<StartDelivery>[0]): Promise<void> {
    if (!(await this.signals.acquire())) return this.setUndispatchedSince(rows, signalAgainMs);
    try {
      await this.steps.startDelivery(stream);
    } catch (error) {
      await this.setUndispatchedSince(rows, signalAgainMs);
      throw error;
    } finally {
      this.signals.release();
    }
    await this.setUndispatchedSince(rows, null);
  }

  /** @param waitMs until they are dispatched again, or null. Those that have ended or were queued again in the meantime stay as they are. */
  private async setUndispatchedSince(rows: UndispatchedRow[], waitMs: number | null): Promise<void> {
    await this.database.query(
      `update webhook_deliveries d set undispatched_since = clock_timestamp() + $3 * interval '1 millisecond'
         from unnest($1::uuid[], $2::timestamptz[]) as batch (delivery_id, since)
        where d.delivery_id = batch.delivery_id and d.undispatched_since = batch.since`,
      [rows.map(({ delivery_id }) => delivery_id), rows.map((row) => row.since), waitMs],
    );
  }

  /** Periodic clean-up: streams without a workflow, secrets whose overlap has ended, events after their retention time. */
  async sweep(): Promise<void> {
    await this.database.query(
      // the outer condition is checked again on rows that were locked: a delivery can end in the meantime
      `update webhook_deliveries set undispatched_since = clock_timestamp() where status = 'pending' and delivery_id in (
         select distinct on (d.webhook_id, d.subject_id) d.delivery_id from webhook_deliveries d
          where d.status = 'pending' and d.next_attempt_at < clock_timestamp() - interval '${overdueMinutes} minutes' and ${isUnblocked}
            and not exists (
              select 1 from webhook_deliveries queued
               where queued.webhook_id = d.webhook_id and queued.subject_id = d.subject_id and queued.status = 'pending'
                 and queued.undispatched_since is not null)
          order by d.webhook_id, d.subject_id, d.position limit ${sweepBatchSize})`,
    );
    await this.database.query(
      `update webhook_endpoints set previous_secret = null, previous_secret_until = null where previous_secret_until < now()`,
    );
    for (let round = 0, deleted = sweepBatchSize; deleted === sweepBatchSize && round < batchesPerSweep; round += 1)
      deleted = await this.deleteOld();
  }

  private async deleteOld(): Promise<number> {
    const [, deleted] = await this.database.query<[unknown[], number]>(
      `delete from webhook_events where event_id in (
         select event_id from webhook_events e where created_at < now() - interval '${retentionDays} days'
            and not exists (select 1 from webhook_deliveries d where d.event_id = e.event_id and d.status = 'pending')
          order by created_at limit ${sweepBatchSize})`,
    );
    return deleted;
  }
}

export function startDelivery(temporal: Client): StartDelivery {
  return async ({ webhookId, subjectId, clientId, kind }) => {
    await temporal.withDeadline(Date.now() + signalTimeoutMs, () =>
      temporal.workflow.signalWithStart(workflowTypes.deliverWebhooks, {
        workflowId: webhookWorkflowId({ webhookId, subjectId }),
        taskQueue: webhookTaskQueue,
        args: [{ webhookId, subjectId }],
        signal: deliveriesPendingSignal,
        signalArgs: [],
        typedSearchAttributes: [
          { key: searchAttributes.clientId, value: clientId },
          ...(/^(transaction|deposit)\./.test(kind) ? [{ key: searchAttributes.txId, value: subjectId }] : []),
          ...(kind === 'wallet.active' ? [{ key: searchAttributes.walletId, value: subjectId }] : []),
        ],
        staticSummary: `${kind} and later events of the same subject`,
      }),
    );
  };
}
