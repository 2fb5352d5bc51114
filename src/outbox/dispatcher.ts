import type { DataSource, EntityManager } from 'typeorm';
import { inTransaction } from '../platform/database';
import type { Logger } from '../platform/logging';
import { type Deliveries, findBacklogs, nextTurn, type OutboxKind, type OutboxMessage, outboxKinds } from './outbox';

/** How long a message waits after a failed delivery: those behind it must not wait for one that always fails. */
const retrySeconds = 5;
/** Postponed messages are due again together, at the next multiple of this: between these times they are no backlog. */
const postponeSeconds = 20;
/** Messages of one kind per round. */
const batch = 50;
const concurrency = 10;
const batchesARound = 10;
/** So many turns behind a client without room others are looked for. */
const turnsAhead = batch * batchesARound;

interface OutboxRow {
  outbox_id: string;
  subject_id: string;
  client_id: string;
  chain: string | null;
  turn: string;
}

/** What finds no room in a round. */
interface Full {
  chains: Set<string>;
  /** Of clients on a chain that has room for others. */
  places: Set<string>;
  /** These chains. */
  chainsOfPlaces: Set<string>;
  /** The last turn that is looked at there: whoever has room is rarely further behind, and the rest of a long backlog is not read. */
  lastTurn: number;
}

const placeOf = (chain: string, clientId: string): string => `${chain} ${clientId}`;

/**
 * Delivers the messages that their writers could not deliver: by turn, then oldest first, and each kind separately, so that a message
 * that waits for room does not delay other kinds. Several processes may run it: each takes rows that no other has locked.
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
    const due = new Set((await findBacklogs(this.database.manager)).map(({ kind }) => kind));
    for (const kind of outboxKinds.filter((candidate) => due.has(candidate))) {
      const failure = await this.dispatchKind(kind);
      if (failure && !this.failing.has(kind))
        this.log.warn({ err: failure, kind }, 'workflow messages cannot be delivered, trying again');
      if (!failure && this.failing.has(kind)) this.log.info({ kind }, 'workflow messages are delivered again');
      if (failure) this.failing.add(kind);
      else this.failing.delete(kind);
    }
  }

  /**
   * Delivers batches of one kind, each in its own database transaction, so that row locks are not held longer than the calls to the
   * workflow service. A chain without room is left out of the following batches, so that the others continue, and so is a client on a chain
   * that has room for others alone; a message of no chain that finds no room ends the round. Postponed ones come last, since they have had no
   * turn.
   */
  private async dispatchKind(kind: OutboxKind): Promise<unknown> {
    for (const isPostponed of [false, true]) {
      const full: Full = { chains: new Set(), places: new Set(), chainsOfPlaces: new Set(), lastTurn: 0 };
      for (let round = 0; round < batchesARound; round += 1) {
        const { failure, isLast } = await inTransaction(this.database, (manager) =>
          this.dispatchBatch(manager, { kind, isPostponed, full }),
        );
        if (failure) return failure;
        if (isLast) break;
      }
    }
    return undefined;
  }

  private async dispatchBatch(
    manager: EntityManager,
    { kind, isPostponed, full }: { kind: OutboxKind; isPostponed: boolean; full: Full },
  ): Promise<{ failure: unknown; isLast: boolean }> {
    const rows = await manager.query<OutboxRow[]>(
      `select outbox_id, subject_id, client_id, chain, turn from workflow_outbox
        where kind = $1 and is_postponed = $4 and deliver_after <= clock_timestamp() and (chain is null or (
                chain <> all ($3::text[]) and chain || ' ' || client_id <> all ($5::text[])
                and (turn <= $6::bigint or chain <> all ($7::text[]))))
        order by turn, outbox_id limit $2 for update skip locked`,
      [kind, batch, [...full.chains], isPostponed, [...full.places], full.lastTurn, [...full.chainsOfPlaces]],
    );
    const hasRoom = ({ chain, client_id: clientId }: OutboxRow) =>
      chain === null || !(full.chains.has(chain) || full.places.has(placeOf(chain, clientId)));
    let isLast = rows.length < batch;
    const [delivered, failed, postponed, back]: [string[], string[], string[], string[]] = [[], [], [], []];
    let failure: unknown;
    // after a failure the workflow service is likely to be down: the rest is not tried in this round
    for (let start = 0; start < rows.length && !failure; start += concurrency) {
      const chunk = rows.slice(start, start + concurrency).filter(hasRoom);
      const outcomes = await Promise.allSettled(chunk.map((row) => this.deliveries[kind](toMessage(kind, row))));
      outcomes.forEach((outcome, index) => {
        const { outbox_id: id = '', client_id: clientId = '', chain = null } = chunk[index] ?? {};
        if (outcome.status === 'rejected') {
          failure ??= outcome.reason;
          failed.push(id);
        } else if (outcome.value === 'delivered') delivered.push(id);
        else if (outcome.value === 'postponed') postponed.push(id);
        else if (isPostponed) back.push(id);
        else if (chain === null) isLast = true;
        else if (outcome.value === 'later') full.chains.add(chain);
        else {
          full.places.add(placeOf(chain, clientId));
          full.chainsOfPlaces.add(chain);
          full.lastTurn = Math.max(full.lastTurn, Number(rows.at(-1)?.turn) + turnsAhead);
        }
      });
    }
    if (failed.length > 0) await manager.query(retryLater, [failed, retrySeconds]);
    if (postponed.length > 0) await manager.query(postpone, [postponed, postponeSeconds]);
    if (back.length > 0) await manager.query(takeBack, [back]);
    if (delivered.length > 0) await manager.query('delete from workflow_outbox where outbox_id = any($1::bigint[])', [delivered]);
    return { failure, isLast };
  }
}

/** One that always fails goes along with the others: with the turn that it had, all that come later would have their turns with it. */
const retryLater = `
  update workflow_outbox o
     set deliver_after = clock_timestamp() + make_interval(secs => $2),
         turn = greatest(o.turn, (select min(w.turn) from workflow_outbox w
                                   where w.kind = o.kind and coalesce(w.chain, '') = coalesce(o.chain, '') and not w.is_postponed
                                     and w.deliver_after <= clock_timestamp() and w.outbox_id <> all($1::bigint[])))
   where outbox_id = any($1::bigint[])`;

const postpone = `
  update workflow_outbox
     set is_postponed = true,
         deliver_after = to_timestamp((floor(extract(epoch from clock_timestamp()) / $2::int) + 1) * $2::int)
   where outbox_id = any($1::bigint[])`;

/** Postponed messages that nothing but room keeps waiting get their turns as if they were written now, in their order. */
const takeBack = `
  update workflow_outbox o set is_postponed = false, turn = back.turn
    from (select p.outbox_id,
                 ${nextTurn('p.kind', 'p.chain', 'p.client_id')}
                   + row_number() over (partition by p.chain, p.client_id order by p.turn, p.outbox_id) - 1 as turn
            from workflow_outbox p where p.outbox_id = any($1::bigint[])) back
   where o.outbox_id = back.outbox_id`;

const toMessage = (kind: OutboxKind, { subject_id: subjectId, client_id: clientId, chain }: OutboxRow): OutboxMessage => ({
  kind,
  subjectId,
  clientId,
  ...(chain !== null && { chain }),
});
