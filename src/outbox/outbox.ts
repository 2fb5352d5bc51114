import type { DataSource, EntityManager } from 'typeorm';
import { CachedValue } from '../platform/cached-value';
import type { Logger } from '../platform/logging';
import { storeTrace } from './request-traces';

/** In the order of delivery: starts last, since there may be many. */
export const outboxKinds = ['transfer_ended', 'transfer_approved', 'start_key_generation', 'start_transfer'] as const;
export type OutboxKind = (typeof outboxKinds)[number];

/** A message to a workflow. */
export interface OutboxMessage {
  kind: OutboxKind;
  /** tx_id or wallet_id. */
  subjectId: string;
  clientId: string;
  /** Of messages that wait for room on a chain. */
  chain?: string;
}

/** Kinds that begin what is traced from there on. */
const kindsThatStart: readonly OutboxKind[] = ['start_key_generation', 'start_transfer'];

/** Kinds with which clients take turns: many messages of one client do not delay those of others. */
const kindsWithTurns: readonly OutboxKind[] = ['start_key_generation', 'start_transfer'];

/**
 * `later`: there is no room now, on its chain or at all; `client_later`: none for further ones of its client on its chain. `postponed`: for a
 * reason of its own, which keeps no other message waiting.
 */
export type Delivery = 'delivered' | 'later' | 'client_later' | 'postponed';

/**
 * How the messages of each kind are delivered. Repeated delivery must be harmless: after a crash between a delivery and its record the message is
 * delivered again.
 * @throws Error when the workflow service does not respond.
 */
export type Deliveries = Record<OutboxKind, (message: OutboxMessage) => Promise<Delivery>>;

/** Deliveries that one process makes at a time directly after its commits; the dispatcher makes the others. */
const maxDirectDeliveries = 8;

/**
 * SQL of the turn of a message that begins to wait: one after its client's last one on the chain, and at least the earliest that waits there.
 * Those that are postponed wait for no turn. The parameters are SQL too.
 */
export function nextTurn(kind: string, chain: string, clientId: string): string {
  const line = `workflow_outbox w where w.kind = ${kind} and coalesce(w.chain, '') = coalesce(${chain}, '') and not w.is_postponed`;
  return `coalesce(greatest((select min(w.turn) from ${line}), (select max(w.turn) + 1 from ${line} and w.client_id = ${clientId})), 0)`;
}

/**
 * Records a message in the database transaction of the act it is about. Where clients take turns, messages of one client that are written at
 * the same time may have the same one.
 */
export async function enqueue(manager: EntityManager, { kind, subjectId, clientId, chain }: OutboxMessage): Promise<void> {
  await manager.query(
    `insert into workflow_outbox (kind, subject_id, client_id, chain, turn)
     select $1, $2, $3, $4, case when $5 then ${nextTurn('$1', '$4', '$3')} else 0 end
     on conflict (kind, subject_id) do nothing`,
    [kind, subjectId, clientId, chain ?? null, kindsWithTurns.includes(kind)],
  );
  if (kindsThatStart.includes(kind)) await storeTrace(manager, subjectId);
}

/** Delivers messages directly after the commit that recorded them; the dispatcher delivers those that fail here. */
export class WorkflowOutbox {
  private readonly running = new Set<Promise<void>>();
  private readonly backlogs = new CachedValue(findBacklogs);

  constructor(
    private readonly database: DataSource,
    private readonly deliveries: Deliveries,
    private readonly log: Logger,
  ) {}

  /** Starts the delivery and returns immediately: no response waits for the workflow service. */
  deliverSoon(message: OutboxMessage): void {
    if (this.running.size >= maxDirectDeliveries) return;
    const delivery = this.deliver(message).finally(() => this.running.delete(delivery));
    this.running.add(delivery);
  }

  /** Resolves once the started deliveries are complete. */
  async settled(): Promise<void> {
    await Promise.all(this.running);
  }

  /** Messages that were written earlier wait: the dispatcher delivers them first. */
  private async isBehind(message: OutboxMessage): Promise<boolean> {
    const backlogs = await this.backlogs.get(this.database.manager);
    return backlogs.some(({ kind, chain }) => kind === message.kind && chain === (message.chain ?? null));
  }

  /** Without the time that its writer has: it would let those overtake it that come later. */
  private async leaveToDispatcher({ kind, subjectId }: OutboxMessage): Promise<void> {
    await this.database.query(
      `update workflow_outbox set deliver_after = clock_timestamp() where outbox_id in (
         select outbox_id from workflow_outbox
          where kind = $1 and subject_id = $2 and deliver_after > clock_timestamp() and not is_postponed for update skip locked)`,
      [kind, subjectId],
    );
  }

  private async deliver(message: OutboxMessage): Promise<void> {
    const { kind, subjectId } = message;
    try {
      if (await this.isBehind(message)) return await this.leaveToDispatcher(message);
      if ((await this.deliveries[kind](message)) !== 'delivered') return;
      // a row that the dispatcher has locked is deleted by the dispatcher
      await this.database.query(
        `delete from workflow_outbox where outbox_id in (
           select outbox_id from workflow_outbox where kind = $1 and subject_id = $2 for update skip locked)`,
        [kind, subjectId],
      );
    } catch (err) {
      this.log.warn({ err, kind, subject_id: subjectId }, 'a workflow message was not delivered, the dispatcher tries again');
    }
  }
}

/** A kind of message on a chain; null for messages that wait for no chain. */
interface Backlog {
  kind: OutboxKind;
  chain: string | null;
}

/** Kinds and chains with messages that their writers have not delivered in time, or whose delivery is due again. */
export function findBacklogs(manager: EntityManager): Promise<Backlog[]> {
  return manager.query<Backlog[]>('select distinct kind, chain from workflow_outbox where deliver_after <= clock_timestamp()');
}
