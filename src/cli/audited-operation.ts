import type { DataSource, EntityManager } from 'typeorm';
import { audit, type AuditEvent } from '../audit/log';
import { inTransaction } from '../platform/database';
import { currentOperator } from './operator';
import { CommandFailed } from './session';

/** Runs an operation and writes its audit row in one database transaction: both are committed or none. */
export function auditedOperation<T>(
  database: DataSource,
  event: Omit<AuditEvent, 'actor' | 'outcome'>,
  work: (manager: EntityManager) => Promise<T>,
): Promise<T> {
  return inTransaction(database, async (manager) => {
    const result = await work(manager);
    await audit(manager, { ...event, outcome: 'success', actor: currentOperator() });
    return result;
  });
}

/**
 * The same for what Temporal does, which is in no database transaction: the row is written before, so that no act is missing, and another one
 * (`refused`) when the work throws CommandFailed.
 */
export async function auditedBefore(
  database: DataSource,
  event: Omit<AuditEvent, 'actor' | 'outcome'>,
  work: () => Promise<void>,
): Promise<void> {
  const row = { ...event, actor: currentOperator() };
  await audit(database.manager, { ...row, outcome: 'success' });
  try {
    await work();
  } catch (error) {
    if (error instanceof CommandFailed)
      await audit(database.manager, { ...row, outcome: 'refused', detail: { ...event.detail, reason: error.message } });
    throw error;
  }
}
