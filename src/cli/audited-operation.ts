import type { DataSource, EntityManager } from 'typeorm';
import { audit, type AuditEvent } from '../audit/log';
import { inTransaction } from '../platform/database';
import { currentOperator } from './operator';

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
