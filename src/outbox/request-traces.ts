import type { DataSource, EntityManager } from 'typeorm';
import { below, getTracer } from '../platform/tracing/tracing';

const keptDays = 14;
const sweepBatch = 10_000;

/** Stores the present span with what is begun in it (a tx_id or wallet_id), in the same database transaction. Without a trace it does nothing. */
export async function storeTrace(manager: EntityManager, subjectId: string): Promise<void> {
  const tracer = getTracer();
  const traceParent = tracer?.traceParent();
  if (traceParent === undefined) return;
  tracer?.set({ 'gateway.subject_id': subjectId });
  await manager.query('insert into request_traces (subject_id, trace_parent) values ($1, $2) on conflict do nothing', [
    subjectId,
    traceParent,
  ]);
}

/** Runs `work` below the span in which the subject was begun. A trace that cannot be read stops nothing. */
export async function belowStoredTrace<T>(database: DataSource, subjectId: string, work: () => Promise<T>): Promise<T> {
  if (!getTracer()) return work();
  const rows = await database
    .query<{ trace_parent: string }[]>('select trace_parent from request_traces where subject_id = $1', [subjectId])
    .catch(() => []);
  return below(rows[0]?.trace_parent, work);
}

/** Forgets traces that are older than two weeks, some at a time; also where none is exported any more. */
export async function sweepTraces(database: DataSource): Promise<void> {
  await database.query(
    `delete from request_traces where subject_id in (
       select subject_id from request_traces where created_at < now() - interval '${keptDays} days' limit ${sweepBatch})`,
  );
}
