import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { DataSource } from 'typeorm';
import { searchAttributes } from '../messages/progress';
import { webhookTaskQueue } from '../messages/task-queues';
import { type DeliveryStream, deliveriesPendingSignal } from '../messages/webhooks';
import { webhookWorkflowId, workflowTypes } from '../messages/workflow-ids';
import type { Logger } from '../platform/logging';
import { notHeldBack } from './deliveries';
import type { EventKind } from './events';

const pollMs = 500;
const batch = 100;
const signalsAtOnce = 10;
const signalTimeoutMs = 5_000;
/** A lane whose attempt is overdue by so much has lost its workflow (terminated, or Temporal's data lost): it gets a new one. */
const overdueMinutes = 10;
const sweepEveryMs = 60_000;
const keptDays = 30;
const sweepBatch = 1_000;
const batchesPerSweep = 10;

interface UndispatchedRow {
  delivery_id: string;
  webhook_id: string;
  subject_id: string;
  client_id: string;
  kind: EventKind;
  /** As text: the row is marked only if it has not been queued anew meanwhile. */
  since: string;
}

/** Tells the workflow of a lane that deliveries wait; starts it where it does not run. */
export type StartDelivery = (lane: DeliveryStream & { clientId: string; kind: EventKind }) => Promise<void>;

/**
 * Reads the outbox and sees to it that every delivery has a workflow. A crash between telling and marking tells twice, which does
 * no harm; several workers may do this at once for the same reason.
 */
export class WebhookDispatcher {
  private sweepAt = 0;

  constructor(
    private readonly database: DataSource,
    private readonly tell: StartDelivery,
    private readonly log: Logger,
  ) {}

  /** Polls until told to stop. Failures are logged once and tried again. */
  async run(stop: AbortSignal): Promise<void> {
    let failing = false;
    while (!stop.aborted) {
      let told = 0;
      try {
        told = await this.dispatch();
        if (failing) this.log.info('webhook deliveries are dispatched again');
        failing = false;
      } catch (err) {
        if (!failing) this.log.warn({ err }, 'webhook deliveries cannot be dispatched, trying again');
        failing = true;
      }
      if (Date.now() >= this.sweepAt) await this.sweepSafely();
      if (told < batch) await delay(pollMs, undefined, { signal: stop }).catch(() => undefined);
    }
  }

  /** A sweep that fails is made again when the next one is due: it never keeps deliveries from being dispatched. */
  private async sweepSafely(): Promise<void> {
    this.sweepAt = Date.now() + sweepEveryMs;
    try {
      await this.sweep();
    } catch (err) {
      this.log.warn({ err }, 'webhooks cannot be swept, trying again');
    }
  }

  /** One batch, oldest first. Returns how many deliveries it was. @throws when Postgres or Temporal does not answer. */
  async dispatch(): Promise<number> {
    const rows = await this.database.query<UndispatchedRow[]>(
      `select d.delivery_id, d.webhook_id, d.subject_id, w.client_id, e.kind, d.undispatched_since::text as since
         from webhook_deliveries d join webhook_endpoints w using (webhook_id) join webhook_events e using (event_id)
        where d.undispatched_since is not null order by d.undispatched_since limit ${batch}`,
    );
    const lanes = new Map<string, UndispatchedRow[]>();
    for (const row of rows) {
      const key = `${row.webhook_id} ${row.subject_id}`;
      lanes.set(key, [...(lanes.get(key) ?? []), row]);
    }
    const all = [...lanes.values()];
    const failures: unknown[] = [];
    for (let start = 0; start < all.length; start += signalsAtOnce) {
      const outcomes = await Promise.allSettled(all.slice(start, start + signalsAtOnce).map((lane) => this.handoff(lane)));
      for (const outcome of outcomes) if (outcome.status === 'rejected') failures.push(outcome.reason);
      // nobody answers: the rest need not be tried
      if (failures.length >= signalsAtOnce) break;
    }
    if (failures.length > 0) throw failures[0];
    return rows.length;
  }

  private async handoff(rows: UndispatchedRow[]): Promise<void> {
    const [first] = rows;
    if (!first) return;
    try {
      await this.tell({ webhookId: first.webhook_id, subjectId: first.subject_id, clientId: first.client_id, kind: first.kind });
    } catch (error) {
      // to the end of the queue: a lane that cannot be told of must not stand before the others
      await this.queue(rows, 'clock_timestamp()');
      throw error;
    }
    await this.queue(rows, 'null');
  }

  private async queue(rows: UndispatchedRow[], since: 'null' | 'clock_timestamp()'): Promise<void> {
    await this.database.query(
      `update webhook_deliveries d set undispatched_since = ${since}
         from unnest($1::uuid[], $2::timestamptz[]) as told (delivery_id, since)
        where d.delivery_id = told.delivery_id and d.undispatched_since = told.since`,
      [rows.map(({ delivery_id }) => delivery_id), rows.map((row) => row.since)],
    );
  }

  /** Rare repairs: lanes without a workflow, secrets whose overlap is over, events that are too old to be asked for. */
  async sweep(): Promise<void> {
    await this.database.query(
      `update webhook_deliveries set undispatched_since = clock_timestamp() where delivery_id in (
         select distinct on (d.webhook_id, d.subject_id) d.delivery_id from webhook_deliveries d
          where d.status = 'pending' and d.next_attempt_at < clock_timestamp() - interval '${overdueMinutes} minutes' and ${notHeldBack}
            and not exists (
              select 1 from webhook_deliveries told
               where told.webhook_id = d.webhook_id and told.subject_id = d.subject_id and told.status = 'pending'
                 and told.undispatched_since is not null)
          order by d.webhook_id, d.subject_id, d.position limit ${sweepBatch})`,
    );
    await this.database.query(
      `update webhook_endpoints set previous_secret = null, previous_secret_until = null where previous_secret_until < now()`,
    );
    for (let round = 0, deleted = sweepBatch; deleted === sweepBatch && round < batchesPerSweep; round += 1)
      deleted = await this.deleteOld();
  }

  private async deleteOld(): Promise<number> {
    const [, deleted] = await this.database.query<[unknown[], number]>(
      `delete from webhook_events where event_id in (
         select event_id from webhook_events e where created_at < now() - interval '${keptDays} days'
            and not exists (select 1 from webhook_deliveries d where d.event_id = e.event_id and d.status = 'pending')
          order by created_at limit ${sweepBatch})`,
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
        staticSummary: `${kind} and what follows it`,
      }),
    );
  };
}
