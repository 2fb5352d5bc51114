import type { DataSource, EntityManager } from 'typeorm';
import { inTransaction } from '../platform/database';
import type { Logger } from '../platform/logging';
import { type Deliveries, type OutboxKind, type OutboxMessage, outboxKinds } from './outbox';

/** How long a message waits after a failed delivery: those behind it must not wait for one that always fails. */
const retrySeconds = 5;
/** Messages of a kind in one round. */
const batch = 50;
const atOnce = 10;

interface OutboxRow {
  outbox_id: string;
  subject_id: string;
  client_id: string;
}

/**
 * Delivers what the writers of messages could not: oldest first, every kind on its own, so that one that waits for room does not
 * hold up the others. Several processes may run it: each takes rows that no other has locked.
 */
export class OutboxDispatcher {
  private readonly failing = new Set<OutboxKind>();

  constructor(
    private readonly database: DataSource,
    private readonly deliveries: Deliveries,
    private readonly log: Logger,
  ) {}

  /** One round. A failing delivery is logged once and stays in the outbox. */
  async dispatch(): Promise<void> {
    for (const kind of outboxKinds) {
      const failure = await inTransaction(this.database, (manager) => this.dispatchKind(manager, kind));
      if (failure && !this.failing.has(kind)) this.log.warn({ err: failure, kind }, 'workflows cannot be told, trying again');
      if (!failure && this.failing.has(kind)) this.log.info({ kind }, 'workflows are told again');
      if (failure) this.failing.add(kind);
      else this.failing.delete(kind);
    }
  }

  /** The row locks last until all of the batch are delivered: its time is limited by that of the calls to the workflow service. */
  private async dispatchKind(manager: EntityManager, kind: OutboxKind): Promise<unknown> {
    const rows = await manager.query<OutboxRow[]>(
      `select outbox_id, subject_id, client_id from workflow_outbox
        where kind = $1 and deliver_after <= clock_timestamp() order by outbox_id limit $2 for update skip locked`,
      [kind, batch],
    );
    const [delivered, failed]: [string[], string[]] = [[], []];
    let failure: unknown;
    let full = false;
    // when one fails, the workflow service is likely to be away: the rest need not be tried in this round
    for (let start = 0; start < rows.length && !failure && !full; start += atOnce) {
      const chunk = rows.slice(start, start + atOnce);
      const outcomes = await Promise.allSettled(chunk.map((row) => this.deliveries[kind](toMessage(kind, row))));
      outcomes.forEach((outcome, index) => {
        const id = chunk[index]?.outbox_id ?? '';
        if (outcome.status === 'rejected') {
          failure ??= outcome.reason;
          failed.push(id);
        } else if (outcome.value === 'later') full = true;
        else delivered.push(id);
      });
    }
    if (failed.length > 0) {
      await manager.query(
        `update workflow_outbox set deliver_after = clock_timestamp() + make_interval(secs => $2) where outbox_id = any($1::bigint[])`,
        [failed, retrySeconds],
      );
    }
    if (delivered.length > 0) await manager.query('delete from workflow_outbox where outbox_id = any($1::bigint[])', [delivered]);
    return failure;
  }
}

const toMessage = (kind: OutboxKind, { subject_id: subjectId, client_id: clientId }: OutboxRow): OutboxMessage => ({
  kind,
  subjectId,
  clientId,
});
