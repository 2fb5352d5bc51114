import type { DataSource, EntityManager } from 'typeorm';
import { audit, type AuditEvent } from '../../../src/audit/log';
import { type AuditFinding, verifySnapshot } from '../../../src/audit/verify';
import { newId } from '../../../src/platform/ids';

/** Events like those of production: some columns filled, some null, and texts that an ambiguous encoding would confuse. */
export function buildEvent(number: number): AuditEvent {
  return {
    action: number % 2 ? 'auth.token_issued' : 'wallet.limit_changed',
    outcome: number % 3 ? 'success' : 'refused',
    actor: { type: number % 2 ? 'user' : 'operator', id: `actor ${number} "\\,{}é` },
    clientId: number % 2 ? newId() : null,
    ...(number % 4 !== 0 && { subject: { type: 'wallet', id: newId() } }),
    detail: { number, text: '","', nothing: null, sure: true, amount: '0.10' },
    requestId: number % 5 ? newId() : null,
  };
}

/** Returns the audit ids, in order. */
export async function writeEvents(manager: EntityManager, count: number): Promise<string[]> {
  for (let number = 1; number <= count; number += 1) await audit(manager, buildEvent(number));
  const rows = await manager.query<{ audit_id: string }[]>(
    'select audit_id from audit_events order by at desc, audit_id desc limit $1',
    [count],
  );
  return rows.map(({ audit_id: id }) => id).reverse();
}

/** Findings of verify after the statements were run without triggers; rolled back afterwards. */
export async function afterTampering(
  database: DataSource,
  tamper: (manager: EntityManager) => Promise<unknown>,
): Promise<AuditFinding[]> {
  let findings: AuditFinding[] = [];
  const undone = new Error('undone');
  await database
    .transaction('REPEATABLE READ', async (manager) => {
      await manager.query(`set local session_replication_role = 'replica'`);
      await tamper(manager);
      ({ findings } = await verifySnapshot(manager));
      throw undone;
    })
    .catch((error: unknown) => {
      if (error !== undone) throw error;
    });
  return findings;
}
