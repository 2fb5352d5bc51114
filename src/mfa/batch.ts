import type { EntityManager } from 'typeorm';
import type { ItemOutcome } from '../http/batch';
import { toReconcileRequired } from '../orders/reconcile-required';
import { isTransient } from '../platform/database';
import { GatewayError } from '../platform/errors';
import type { Logger } from '../platform/logging';

/**
 * Runs the items of a batch one after the other, each in a savepoint of its own: one that is refused or fails leaves nothing behind, and does
 * not keep the others from being carried out. What concerns all of them is thrown, so that the whole database transaction is rolled back, with
 * the use of its code: the database is away, a row stays locked, orders have to be reconciled.
 * @returns each item with what became of it, in their order
 * @param manager of a database transaction, such as that of MfaService.authorize
 */
export async function runItems<I, T>(
  manager: EntityManager,
  items: readonly I[],
  work: (manager: EntityManager, item: I) => Promise<T>,
  log: Logger,
): Promise<{ item: I; outcome: ItemOutcome<T> }[]> {
  const results: { item: I; outcome: ItemOutcome<T> }[] = [];
  for (const item of items) {
    try {
      const done = await manager.transaction((nested) => work(nested, item));
      results.push({ item, outcome: { done, error: null } });
    } catch (error) {
      results.push({ item, outcome: { done: null, error: toItemError(error, log) } });
    }
  }
  return results;
}

function toItemError(error: unknown, log: Logger): GatewayError {
  if (error instanceof GatewayError && error.status < 500) return error;
  if (error instanceof GatewayError || isTransient(error) || toReconcileRequired(error)) throw error;
  log.error({ err: error }, 'an item of a batch failed');
  return new GatewayError('internal_error', 'An internal error occurred', { cause: error });
}
