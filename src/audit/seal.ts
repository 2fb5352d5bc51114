import type { DataSource, EntityManager } from 'typeorm';
import { inTransaction } from '../platform/database';
import { eventFields, genesisHash, rowHash, sealHash, sealLimit } from './chain';

/** Limit of seals per run, so that a backlog is processed in parts. */
const batchesPerRun = 20;

/**
 * Seals the queued audit rows. All API processes run it every few seconds; a lock lets one of them work and the others return
 * immediately. Writers never wait for it. Returns the number of rows sealed.
 */
export async function sealAuditLog(database: DataSource): Promise<number> {
  let sealed = 0;
  for (let batch = 0; batch < batchesPerRun; batch += 1) {
    const events = await inTransaction(database, sealBatch);
    sealed += events;
    if (events < sealLimit) break;
  }
  return sealed;
}

async function sealBatch(manager: EntityManager): Promise<number> {
  const [lock] = await manager.query<{ locked: boolean }[]>(
    `select pg_try_advisory_xact_lock(hashtext('audit_seals')) as locked`,
  );
  if (!lock?.locked) return 0;
  // skips entries without a row and rows already sealed: `audit verify` reports them, and they must not block the others
  const rows = await manager.query<{ audit_id: string; fields: (string | null)[] }[]>(
    `select e.audit_id, ${eventFields} as fields
       from audit_pending p join audit_events e using (audit_id)
      where not exists (select 1 from audit_seal_entries s where s.audit_id = e.audit_id)
      order by e.audit_id limit $1`,
    [sealLimit],
  );
  if (rows.length === 0) return 0;
  await append(
    manager,
    rows.map(({ audit_id: auditId, fields }) => ({ auditId, hash: rowHash(fields) })),
  );
  await manager.query(`delete from audit_pending where audit_id = any($1::uuid[])`, [rows.map((row) => row.audit_id)]);
  return rows.length;
}

/** The caller holds the lock, so the head of the chain does not change. */
async function append(manager: EntityManager, entries: { auditId: string; hash: string }[]): Promise<void> {
  const [head] = await manager.query<{ seq: string; hash: string; now: string }[]>(
    `select coalesce(s.seq, 0) as seq, coalesce(encode(s.hash, 'hex'), $1) as hash, extract(epoch from t.now)::text as now
       from (select clock_timestamp() as now) t
       left join (select seq, hash from audit_seals order by seq desc limit 1) s on true`,
    [genesisHash],
  );
  if (!head) throw new Error('the query for the audit head returned no row');
  const seal = { seq: Number(head.seq) + 1, sealedAt: head.now, prevHash: head.hash };
  const hashes = entries.map(({ hash }) => hash);
  await manager.query(
    `insert into audit_seals (seq, events, sealed_at, prev_hash, hash)
     values ($1, $2, 'epoch'::timestamptz + $3::interval, decode($4, 'hex'), decode($5, 'hex'))`,
    [seal.seq, entries.length, `${seal.sealedAt} seconds`, seal.prevHash, sealHash(seal, hashes)],
  );
  await manager.query(
    `insert into audit_seal_entries (seq, position, audit_id, row_hash)
     select $1, t.n - 1, t.audit_id, decode(t.hash, 'hex') from unnest($2::uuid[], $3::text[]) with ordinality as t(audit_id, hash, n)`,
    [seal.seq, entries.map(({ auditId }) => auditId), hashes],
  );
}
