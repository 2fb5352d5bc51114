import type { DataSource, EntityManager } from 'typeorm';
import { audit } from '../audit/log';
import type { SigningClaims } from '../messages/order';
import { findMissingOrders, type MissingOrder } from '../orders/missing-orders';
import type { AskForOrders } from '../orders/node-orders';
import type { OrderKeys } from '../mpc/order-keys';
import { inTransaction } from '../platform/database';
import { GatewayError } from '../platform/errors';
import { type KnownOrder, type RebuildDependencies, rebuildTransfer } from '../transfers/rebuild';
import { currentOperator } from './operator';

export interface ReconcileOptions extends RebuildDependencies {
  /** As the owner of the schema. */
  database: DataSource;
  ask: AskForOrders;
  keys: OrderKeys;
  deployment: string;
  /** False: everything is tried and taken back. */
  apply: boolean;
  /** Opens the gateway although something could not be rebuilt. */
  acceptMissing: boolean;
}

export interface Reconciled {
  /** A transfer, or the key of a wallet. */
  subject: string;
  orders: number;
  result: 'rebuilt' | 'recorded' | 'not rebuilt' | 'accepted as missing';
  reason: string;
}

export interface Reconciliation {
  rows: Reconciled[];
  /** Transfers whose workflow is to be started again. */
  started: string[];
  isOpen: boolean;
}

interface Row {
  missing_after: string | null;
}

/** Thrown to take a database transaction back. */
class TakenBack extends Error {}

/**
 * Rebuilds what the orders that the signing nodes show say and the database lacks, each transfer in a database transaction of its own,
 * and opens the gateway once nothing that two nodes show is missing. Repeated, it goes on where it was interrupted.
 * @throws GatewayError signers_unavailable.
 */
export async function reconcile(options: ReconcileOptions): Promise<Reconciliation> {
  const { database, apply, acceptMissing } = options;
  const [row] = await database.query<Row[]>('select missing_after from order_comparison');
  const after = row?.missing_after ?? (await highestNumber(database));
  const { orders } = await findMissingOrders(options, Number(after));
  const rows: Reconciled[] = [];
  const started: string[] = [];
  for (const [subject, group] of bySubject(orders)) {
    const result = await reconcileOne(options, subject, group);
    rows.push(result);
    if (result.result === 'rebuilt') started.push(subject);
  }
  const isComplete = acceptMissing || rows.every(({ result }) => result !== 'not rebuilt');
  if (apply && isComplete) await inTransaction(database, (manager) => open(manager, rows));
  return { rows, started, isOpen: apply && isComplete };
}

async function highestNumber(database: DataSource): Promise<string> {
  const [row] = await database.query<{ highest: string }[]>('select coalesce(max(seq), 0) as highest from orders');
  return row?.highest ?? '0';
}

/** By transfer and by key, in the order of their first numbers. */
function bySubject(orders: MissingOrder[]): Map<string, MissingOrder[]> {
  const groups = new Map<string, MissingOrder[]>();
  for (const order of orders) {
    const { claims } = order;
    const subject = 'tx_id' in claims ? claims.tx_id : 'key_id' in claims ? claims.key_id : claims.client_id;
    groups.set(subject, [...(groups.get(subject) ?? []), order]);
  }
  return groups;
}

async function reconcileOne(
  { database, registry, getFamily, apply, acceptMissing }: ReconcileOptions,
  subject: string,
  orders: MissingOrder[],
): Promise<Reconciled> {
  const done = { subject, orders: orders.length };
  const transfer = orders.flatMap(({ claims, bytes }): KnownOrder[] => (isSigning(claims) ? [{ claims, bytes }] : []));
  const isTransfer = transfer.length === orders.length;
  const work = async (manager: EntityManager) => {
    if (isTransfer) await rebuildTransfer(manager, { registry, getFamily }, transfer);
    else await recordKeyOrders(manager, orders);
    await record(manager, isTransfer ? 'transaction' : 'key', subject, orders, '');
  };
  try {
    await inEither(database, apply, work);
    return { ...done, result: isTransfer ? 'rebuilt' : 'recorded', reason: '' };
  } catch (error) {
    const reason = reasonOf(error);
    if (reason === null) throw error;
    if (!acceptMissing) return { ...done, result: 'not rebuilt', reason };
    await inEither(database, apply, async (manager) => {
      for (const { claims } of orders) await storeClaims(manager, claims);
      await record(manager, isTransfer ? 'transaction' : 'key', subject, orders, reason);
    });
    return { ...done, result: 'accepted as missing', reason };
  }
}

const isSigning = (claims: MissingOrder['claims']): claims is SigningClaims => 'recipients' in claims;

/** A dry run checks at its end what a commit would. */
async function inEither(database: DataSource, apply: boolean, work: (manager: EntityManager) => Promise<void>): Promise<void> {
  await inTransaction(database, async (manager) => {
    await work(manager);
    await manager.query('set constraints all immediate');
    if (!apply) throw new TakenBack();
  }).catch((error: unknown) => {
    if (!(error instanceof TakenBack)) throw error;
  });
}

/** Why something cannot be rebuilt; null for errors that say nothing about it. */
function reasonOf(error: unknown): string | null {
  if (error instanceof GatewayError && error.code === 'business_error') return error.message;
  const { code, message } = ((error as { driverError?: unknown }).driverError ?? {}) as { code?: string; message?: string };
  if (code === 'GW001') return 'the account does not have what it held: wait until the deposits since the backup are found again';
  // integrity constraints: another row has its nonce, its bytes or its number
  return code?.startsWith('23') ? `it contradicts the database: ${message}` : null;
}

/** A key that was not bound has signed nothing but tests; a bound one is the key of a wallet, which has to be there with it. */
async function recordKeyOrders(manager: EntityManager, orders: MissingOrder[]): Promise<void> {
  for (const { claims } of orders) {
    if (claims.kind === 'bind_key') {
      const [wallet] = await manager.query<unknown[]>(
        'select 1 from wallets where wallet_id = $1 and client_id = $2 and key_id = $3',
        [claims.wallet_id, claims.client_id, claims.key_id],
      );
      if (!wallet)
        throw new GatewayError(
          'business_error',
          `wallet ${claims.wallet_id} of client ${claims.client_id} is not there with this key`,
        );
    }
    await storeClaims(manager, claims);
  }
}

/** Without the bytes that an order is about. */
async function storeClaims(manager: EntityManager, claims: MissingOrder['claims']): Promise<void> {
  await manager.query(
    'insert into orders (jti, seq, kind, claims, issued_at) values ($1, $2, $3, $4, to_timestamp($5)) on conflict (jti) do nothing',
    [claims.jti, claims.seq, claims.kind, JSON.stringify(claims), claims.iat],
  );
}

function record(manager: EntityManager, type: string, id: string, orders: MissingOrder[], reason: string): Promise<void> {
  const [first] = orders;
  return audit(manager, {
    action: reason === '' ? 'orders.rebuilt' : 'orders.accepted_as_missing',
    outcome: 'success',
    actor: currentOperator(),
    clientId: null,
    subject: { type, id },
    detail: { orders: orders.length, first: first?.claims.seq ?? null, ...(reason && { reason }) },
  });
}

/** Later orders get higher numbers than every one that a node has seen. */
async function open(manager: EntityManager, rows: Reconciled[]): Promise<void> {
  await manager.query(
    `select setval('order_numbers', greatest((select max(seq) from orders), (select last_value from order_numbers)))
      where exists (select from orders)`,
  );
  await manager.query(
    `update order_comparison set missing_since = null, missing_after = null, missing_order = null, missing_node = null,
            compared_as = database_incarnation(), compared_at = clock_timestamp()`,
  );
  await audit(manager, {
    action: 'orders.reconciled',
    outcome: 'success',
    actor: currentOperator(),
    clientId: null,
    detail: { subjects: rows.length, missing: rows.filter(({ result }) => result === 'accepted as missing').length },
  });
}
