import type { DataSource, EntityManager } from 'typeorm';
import type { Logger } from '../platform/logging';

/** In the order of their delivery: starts last, since there may be many. */
export const outboxKinds = ['transfer_ended', 'transfer_approved', 'start_key_generation', 'start_transfer'] as const;
export type OutboxKind = (typeof outboxKinds)[number];

/** One thing that a workflow must be told. */
export interface OutboxMessage {
  kind: OutboxKind;
  /** tx_id or wallet_id. */
  subjectId: string;
  clientId: string;
  /** Of messages that wait for room on a chain. */
  chain?: string;
  /** Clients take turns: one that writes many of this kind does not hold up the others. */
  takesTurns?: boolean;
}

/**
 * How the messages of each kind are delivered. `later`: there is no room now. Delivering twice must do no harm: a crash between the
 * delivery and its record repeats it.
 * @throws Error when the workflow service does not answer.
 */
export type Deliveries = Record<OutboxKind, (message: OutboxMessage) => Promise<'delivered' | 'later'>>;

/** Deliveries that one process makes right after its commits at a time; what comes beyond is the dispatcher's. */
const maxAtOnce = 20;

/**
 * Records a message in the database transaction of the act it tells of. Messages that take turns are written one after the other, under a
 * lock of the caller: the turn of a client's next one follows that of its last, and is at least the turn that is due now.
 */
export async function enqueue(
  manager: EntityManager,
  { kind, subjectId, clientId, chain, takesTurns = false }: OutboxMessage,
): Promise<void> {
  await manager.query(
    `insert into workflow_outbox (kind, subject_id, client_id, chain, turn)
     select $1, $2, $3, $4, case when $5 then (
       select coalesce(greatest(min(turn), max(turn) filter (where client_id = $3) + 1), 0) from workflow_outbox where kind = $1
     ) else 0 end
     on conflict (kind, subject_id) do nothing`,
    [kind, subjectId, clientId, chain ?? null, takesTurns],
  );
}

/** Delivers messages right after the commit that recorded them; the dispatcher delivers what this could not. */
export class WorkflowOutbox {
  private readonly running = new Set<Promise<void>>();

  constructor(
    private readonly database: DataSource,
    private readonly deliveries: Deliveries,
    private readonly log: Logger,
  ) {}

  /** Begins the delivery and returns at once: no answer waits for the workflow service. */
  deliverSoon(message: OutboxMessage): void {
    if (this.running.size >= maxAtOnce) return;
    const delivery = this.deliver(message).finally(() => this.running.delete(delivery));
    this.running.add(delivery);
  }

  /** Resolves once the deliveries that have begun are over. */
  async settled(): Promise<void> {
    await Promise.all(this.running);
  }

  private async deliver(message: OutboxMessage): Promise<void> {
    const { kind, subjectId } = message;
    try {
      if ((await this.deliveries[kind](message)) === 'later') return;
      await this.database.query('delete from workflow_outbox where kind = $1 and subject_id = $2', [kind, subjectId]);
    } catch (err) {
      this.log.warn({ err, kind, subject_id: subjectId }, 'a workflow was not told, the dispatcher tries again');
    }
  }
}
