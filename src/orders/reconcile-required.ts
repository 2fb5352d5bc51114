import { type EntityManager, QueryFailedError } from 'typeorm';
import { GatewayError } from '../platform/errors';

/** Of guard_orders_compared (migrations/0020-order-comparison.ts). */
const notComparedState = 'GW002';

/** Orders of the signing nodes are missing in the database, or were not compared yet: nothing is accepted and nothing ordered. */
export const reconcileRequired = (cause?: unknown): GatewayError =>
  new GatewayError(
    'reconcile_required',
    'The database is being compared with the signing nodes, or must be reconciled with them by an operator',
    { retryAfterSeconds: 5, ...(cause === undefined ? {} : { cause }) },
  );

/** The chain has executed transactions of the account that the database does not have: nothing is accepted for it on that chain. */
export const accountDoubted = (): GatewayError =>
  new GatewayError(
    'reconcile_required',
    'The chain counts more transactions of the account than the gateway knows: an operator must reconcile them',
    { retryAfterSeconds: 60 },
  );

/** Whether orders may be issued and transfers accepted. @throws Error when the database does not answer. */
export async function areOrdersCompared(database: Pick<EntityManager, 'query'>): Promise<boolean> {
  const [row] = await database.query<{ compared: boolean }[]>('select orders_are_compared() as compared');
  return row?.compared ?? false;
}

/** @throws GatewayError reconcile_required */
export async function assertOrdersCompared(manager: EntityManager): Promise<void> {
  if (!(await areOrdersCompared(manager))) throw reconcileRequired();
}

/** `reconcile_required` for a transfer that the database did not accept for that reason; null for any other error. */
export function toReconcileRequired(error: unknown): GatewayError | null {
  const { code } = (error instanceof QueryFailedError ? error.driverError : {}) as { code?: string };
  return code === notComparedState ? reconcileRequired(error) : null;
}
