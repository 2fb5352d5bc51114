import { setTimeout as delay } from 'node:timers/promises';
import type { DataSource, EntityManager } from 'typeorm';
import { audit } from '../audit/log';
import { type NodeIndex, nodeIndexes, quorum } from '../messages/nodes';
import type { OrderKeys } from '../mpc/order-keys';
import { numberOverlap, overlappedNumber } from '../orders/compared-numbers';
import { findMissingOrders, type MissingOrder } from '../orders/missing-orders';
import type { AskForOrders } from '../orders/node-orders';
import { inTransaction } from '../platform/database';
import { GatewayError } from '../platform/errors';
import { TransactionEntity } from '../transactions/entity';
import { isEnded } from '../transactions/state';
import type { CountUsed } from '../transfers/rebuild/missing-ordinals';
import type { RebuildDependencies } from '../transfers/rebuild/rebuild';
import { withReason } from './confirmation';
import { currentOperator } from './operator';
import { whileReconciling } from './reconcile-lock';
import {
  acceptAsMissing,
  type AcceptMissing,
  acceptUnverified,
  isAccepted,
  type Reconciled,
  reconcileSubject,
  type Subject,
} from './reconcile-subjects';

export interface ReconcileOptions extends RebuildDependencies {
  /** As the owner of the schema. */
  database: DataSource;
  ask: AskForOrders;
  keys: OrderKeys;
  deployment: string;
  /** Starts the workflow of a rebuilt transfer; no effect while it runs. */
  start: (transfer: TransactionEntity) => Promise<unknown>;
  /** False: everything is tried and taken back. */
  apply: boolean;
  /** Opens the gateway although something could not be rebuilt. */
  acceptMissing: AcceptMissing;
  /** Of the operator, for the audit log. */
  statedReason?: string | undefined;
  /** Asked about the senders of what is accepted as missing. */
  countUsed: CountUsed;
  /** Goes on when one of the three nodes does not answer. */
  twoNodes: boolean;
  /** Milliseconds between two tries for what an account does not cover yet. */
  coverEveryMs?: number;
}

export interface Reconciliation {
  /** Nodes that have shown all of their orders. */
  nodes: NodeIndex[];
  /** How many different orders they have shown. */
  shown: number;
  rows: Reconciled[];
  /** Transfers whose workflow was started, also those that an earlier, interrupted run has rebuilt. */
  started: string[];
  isOpen: boolean;
}

/** With coverEveryMs two minutes: rebuilt transfers that the chain has executed release what they held beyond their fees. */
const coverTries = 24;

/**
 * Rebuilds what the orders that the signing nodes show say and the database lacks, each transfer in a database transaction of its own,
 * starts its workflow at once, and opens the gateway once nothing that the nodes show is missing. Repeated, it goes on where it was
 * interrupted.
 * @throws GatewayError signers_unavailable; chain_unavailable; business_error while another one runs.
 */
export const reconcile = (options: ReconcileOptions): Promise<Reconciliation> =>
  whileReconciling(options.database, () => reconcileAlone(options));

async function reconcileAlone(options: ReconcileOptions): Promise<Reconciliation> {
  const { database, apply, acceptMissing, twoNodes } = options;
  const needed = twoNodes ? quorum : nodeIndexes.length;
  const { after, incarnation } = await readStart(database);
  const { orders, unverified, nodes, shown } = await findMissingOrders({ ...options, needed }, after);
  const started = apply ? await startInterrupted(options) : [];
  const subjects = bySubject(orders);
  const results = new Map<string, Reconciled>();
  const rebuild = async (subject: Subject) => {
    const row = await reconcileSubject(options, subject);
    results.set(subject.id, row);
    if (row.result === 'rebuilt' && apply) started.push(...(await start(options, subject.id)));
  };
  for (const subject of subjects) await rebuild(subject);
  const uncovered = () => subjects.filter(({ id }) => results.get(id)?.waitsFor === 'funds');
  for (let tries = 0; tries < coverTries && uncovered().length > 0; tries += 1) {
    if (!(await isAnyOpen(database, started))) break;
    await delay(options.coverEveryMs ?? 5_000);
    for (const subject of uncovered()) await rebuild(subject);
  }
  for (const subject of subjects) {
    const row = results.get(subject.id);
    if (row?.result === 'not rebuilt' && isAccepted(acceptMissing, row))
      results.set(subject.id, await acceptAsMissing(options, subject, row.reason));
  }
  const rows = [...results.values()];
  for (const order of unverified) rows.push(await acceptUnverified(options, order));
  const isComplete = rows.every(({ result }) => result !== 'not rebuilt');
  if (apply && isComplete) await inTransaction(database, (manager) => open(manager, incarnation, { rows, nodes }, options));
  return { nodes, shown, rows, started, isOpen: apply && isComplete };
}

/** `after`: the nodes are asked for all orders with higher numbers. `incarnation`: of the database that is compared. */
async function readStart(database: DataSource): Promise<{ after: number; incarnation: string }> {
  const [row] = await database.query<{ after: string; incarnation: string }[]>(
    `select coalesce(missing_after, ${overlappedNumber}) as after, database_incarnation() as incarnation from order_comparison`,
    [numberOverlap],
  );
  if (!row) throw new Error('the comparison of orders has no row');
  return { after: Number(row.after), incarnation: row.incarnation };
}

/** By transfer and by key, in the order of their first numbers. */
function bySubject(orders: MissingOrder[]): Subject[] {
  const subjects = new Map<string, Subject>();
  for (const order of orders) {
    const { claims } = order;
    const id = 'tx_id' in claims ? claims.tx_id : 'key_id' in claims ? claims.key_id : claims.client_id;
    const subject = subjects.get(id) ?? { id, orders: [] };
    subject.orders.push(order);
    subjects.set(id, subject);
  }
  return [...subjects.values()];
}

/** A workflow continues from the rows, and finds on the chain what became of the transfer. */
async function start({ database, start: run }: ReconcileOptions, txId: string): Promise<string[]> {
  const transfer = await database.manager.findOneByOrFail(TransactionEntity, { txId });
  if (isEnded(transfer)) return [];
  await run(transfer);
  return [txId];
}

/** Transfers that were rebuilt by a run which perhaps ended before it has started them. */
async function startInterrupted(options: ReconcileOptions): Promise<string[]> {
  const rows = await options.database.query<{ tx_id: string }[]>(
    `select tx_id from transactions t
      where ended_at is null and is_signed and signing_begun_at is not null
        and exists (select from audit_events e where e.subject_id = t.tx_id::text and e.action = 'orders.rebuilt')
      order by tx_id`,
  );
  const started: string[] = [];
  for (const { tx_id: txId } of rows) started.push(...(await start(options, txId)));
  return started;
}

async function isAnyOpen(database: DataSource, txIds: string[]): Promise<boolean> {
  const rows = await database.query<unknown[]>(
    'select from transactions where tx_id = any($1::uuid[]) and ended_at is null limit 1',
    [txIds],
  );
  return rows.length > 0;
}

/** @throws GatewayError business_error when another incarnation of the database has taken over since it was compared. */
async function open(
  manager: EntityManager,
  incarnation: string,
  { rows, nodes }: Pick<Reconciliation, 'rows' | 'nodes'>,
  { statedReason }: Pick<ReconcileOptions, 'statedReason'>,
): Promise<void> {
  const [, opened] = await manager.query<[unknown, number]>(
    `update order_comparison set missing_since = null, missing_after = null, missing_order = null, missing_node = null,
            compared_as = database_incarnation(), compared_at = clock_timestamp(), compared_after = ${overlappedNumber}
      where database_incarnation() = $2`,
    [numberOverlap, incarnation],
  );
  if (opened === 0)
    throw new GatewayError(
      'business_error',
      'Another incarnation of the database has taken over meanwhile: run the command again',
    );
  await audit(manager, {
    action: 'orders.reconciled',
    outcome: 'success',
    actor: currentOperator(),
    clientId: null,
    detail: {
      subjects: rows.length,
      missing: rows.filter(({ result }) => result === 'accepted as missing').length,
      nodes: nodes.join(','),
      ...withReason(statedReason),
    },
  });
}
