import type { EntityManager } from 'typeorm';
import type { AuditHead, Seal } from './chain';

/** Reads the audit log page by page in the order of its keys: memory use does not depend on the length of the log. */

const pageRows = 2_000;

export interface SealRow extends Seal {
  events: number;
  hash: string;
}

export interface SealedEntry {
  position: number;
  auditId: string;
  rowHash: string;
  /** The current event; null when it does not exist. */
  fields: (string | null)[] | null;
}

export interface UnsealedEvent {
  auditId: string;
  isQueued: boolean;
  /** Older than a minute, by the database's clock. */
  isOld: boolean;
}

/** Seals in the order of their numbers. */
export async function* seals(manager: EntityManager): AsyncGenerator<SealRow> {
  for (let after = '0'; ;) {
    const rows = await manager.query<{ seq: string; events: number; sealed_at: string; prev_hash: string; hash: string }[]>(
      `select seq, events, extract(epoch from sealed_at)::text as sealed_at, encode(prev_hash, 'hex') as prev_hash, encode(hash, 'hex') as hash
         from audit_seals where seq > $1 order by seq limit $2`,
      [after, pageRows],
    );
    for (const { seq, events, sealed_at: sealedAt, prev_hash: prevHash, hash } of rows)
      yield { seq: Number(seq), events, sealedAt, prevHash, hash };
    const last = rows.at(-1);
    if (!last || rows.length < pageRows) return;
    after = last.seq;
  }
}

/** The entries of each seal by position, with their events (at most 1000, a constraint of the table). */
export async function* entryGroups(
  manager: EntityManager,
  fields: string,
): AsyncGenerator<{ seq: number; entries: SealedEntry[] }, undefined> {
  let group: { seq: number; entries: SealedEntry[] } | undefined;
  for (let after = ['0', -1] as [string, number]; ;) {
    const rows = await manager.query<
      { seq: string; position: number; audit_id: string; row_hash: string; fields: (string | null)[] | null }[]
    >(
      `select s.seq, s.position, s.audit_id, encode(s.row_hash, 'hex') as row_hash,
              case when e.audit_id is not null then ${fields} end as fields
         from audit_seal_entries s left join audit_events e using (audit_id)
        where (s.seq, s.position) > ($1, $2) order by s.seq, s.position limit $3`,
      [...after, pageRows],
    );
    for (const { seq, position, audit_id: auditId, row_hash: rowHash, fields: event } of rows) {
      if (group?.seq !== Number(seq)) {
        if (group) yield group;
        group = { seq: Number(seq), entries: [] };
      }
      group.entries.push({ position, auditId, rowHash, fields: event });
    }
    const last = rows.at(-1);
    if (!last || rows.length < pageRows) break;
    after = [last.seq, last.position];
  }
  if (group) yield group;
  return undefined;
}

/** Events that are not sealed. */
export async function* unsealedEvents(manager: EntityManager): AsyncGenerator<UnsealedEvent> {
  for (let after = '00000000-0000-0000-0000-000000000000'; ;) {
    const [page] = await manager.query<{ rows: number; last: string; unsealed: UnsealedEvent[] }[]>(
      `select count(*)::int as rows, max(e.audit_id::text collate "C") as last,
              coalesce(json_agg(json_build_object('auditId', e.audit_id, 'isQueued', p.audit_id is not null,
                       'isOld', e.at < clock_timestamp() - interval '1 minute') order by e.audit_id) filter (where s.audit_id is null), '[]') as unsealed
         from (select audit_id, at from audit_events where audit_id > $1 order by audit_id limit $2) e
         left join audit_seal_entries s using (audit_id)
         left join audit_pending p using (audit_id)`,
      [after, pageRows],
    );
    if (!page) return;
    yield* page.unsealed;
    if (page.rows < pageRows) return;
    after = page.last;
  }
}

/** The newest seal; null when there is none. */
export async function auditHead(manager: EntityManager): Promise<(AuditHead & { sealedAt: Date }) | null> {
  const [row] = await manager.query<{ seq: string; hash: string; sealed_at: Date }[]>(
    `select seq, encode(hash, 'hex') as hash, sealed_at from audit_seals order by seq desc limit 1`,
  );
  return row ? { seq: Number(row.seq), hash: row.hash, sealedAt: row.sealed_at } : null;
}
