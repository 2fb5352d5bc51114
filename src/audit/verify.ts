import type { DataSource, EntityManager } from 'typeorm';
import { type AuditHead, eventFields, genesisHash, rowHash, sealHash } from './chain';
import { entryGroups, type SealedEntry, type SealRow, seals, unsealedEvents } from './reader';

/** Further findings are only counted, so that memory use is limited. */
const findingLimit = 1_000;

/** A difference between the audit log and its seals. */
export interface AuditFinding {
  /** null: about a whole seal. */
  auditId: string | null;
  /** null: not sealed. */
  seal: number | null;
  problem: string;
}

export interface AuditReport {
  /** The first 1000. */
  findings: AuditFinding[];
  found: number;
  events: number;
  seals: number;
  /** Rows that are not sealed yet, usually those of the last seconds. */
  waiting: number;
  head: AuditHead;
}

/**
 * Recomputes the whole hash chain from the rows, page by page on one snapshot, in constant memory. With heads that were stored
 * elsewhere it also detects a chain that was truncated or completely rewritten.
 */
export function verifyAuditLog(database: DataSource, keptHeads: AuditHead[] = []): Promise<AuditReport> {
  return database.transaction('REPEATABLE READ', async (manager) => {
    await manager.query('set transaction read only');
    return verifySnapshot(manager, keptHeads);
  });
}

/** Like `verifyAuditLog`, within a REPEATABLE READ transaction of the caller. */
export async function verifySnapshot(manager: EntityManager, keptHeads: AuditHead[] = []): Promise<AuditReport> {
  const report: AuditReport = { findings: [], found: 0, events: 0, seals: 0, waiting: 0, head: { seq: 0, hash: genesisHash } };
  const add = (finding: AuditFinding): void => {
    report.found += 1;
    if (report.findings.length < findingLimit) report.findings.push(finding);
  };
  await verifyChain(manager, report, keptHeads, add);
  await verifyUnsealed(manager, report, add);
  await verifyQueue(manager, add);
  return report;
}

type Add = (finding: AuditFinding) => void;

async function verifyChain(manager: EntityManager, report: AuditReport, keptHeads: AuditHead[], add: Add): Promise<void> {
  const groups = entryGroups(manager, eventFields);
  let absent = keptHeads.filter((head) => !isSame(head, report.head));
  let group = await groups.next();
  let previous: { seq: number; hashes: string[] } = { seq: 0, hashes: [genesisHash] };
  for await (const seal of seals(manager)) {
    const first = previous.seq + 1;
    const last = seal.seq - 1;
    if (first <= last) addMissing(first, last, add);
    // entries of a seal that is missing
    while (!group.done && group.value.seq < seal.seq) group = await groups.next();
    let entries: SealedEntry[] = [];
    if (!group.done && group.value.seq === seal.seq) {
      ({ entries } = group.value);
      group = await groups.next();
    }
    const recomputed = verifySeal(seal, entries, add);
    if (first > last && !previous.hashes.includes(seal.prevHash))
      add({
        auditId: null,
        seal: seal.seq,
        problem: `does not continue seal ${previous.seq}: its previous hash is a different one`,
      });
    absent = absent.filter((head) => !isSame(head, seal));
    // accepts both: a seal whose own hash was changed is reported once, not again for its successor
    previous = { seq: seal.seq, hashes: [seal.hash, recomputed] };
    report.head = { seq: seal.seq, hash: seal.hash };
    report.seals += 1;
    report.events += entries.length;
  }
  for (; !group.done; group = await groups.next()) addMissing(group.value.seq, group.value.seq, add);
  for (const { seq } of absent)
    add({ auditId: null, seal: seq, problem: 'is not the one that was stored elsewhere: the chain was truncated or rewritten' });
}

const isSame = (one: AuditHead, other: AuditHead): boolean => one.seq === other.seq && one.hash === other.hash;

function addMissing(first: number, last: number, add: Add): void {
  add({ auditId: null, seal: first, problem: first === last ? 'was removed' : `was removed, with all seals up to ${last}` });
}

/** Reports the differences of a seal. Returns the hash computed from the seal and its entries. */
function verifySeal(seal: SealRow, entries: SealedEntry[], add: Add): string {
  const inSeal = (problem: string, auditId: string | null = null) => add({ auditId, seal: seal.seq, problem });
  const recorded = entries.map((entry) => entry.rowHash);
  const ofRows = entries.map(({ fields, rowHash: hash }) => (fields ? rowHash(fields) : hash));
  const hash = sealHash(seal, recorded);
  const isIntact = hash === seal.hash;
  const changed = entries.filter((_, place) => ofRows[place] !== recorded[place]);

  if (entries.length !== seal.events) inSeal(`has ${entries.length} entries of ${seal.events}`);
  else if (entries.some(({ position }, place) => position !== place)) inSeal('has entries at other positions than sealed');
  for (const { auditId } of entries.filter(({ fields }) => !fields)) inSeal('was removed after it was sealed', auditId);

  if (!isIntact && changed.length > 0 && sealHash(seal, ofRows) === seal.hash) {
    for (const { auditId } of changed) inSeal('has a changed hash in its seal', auditId);
    return hash;
  }
  for (const { auditId } of changed) inSeal('was changed after it was sealed', auditId);
  if (isIntact || entries.length !== seal.events) return hash;
  // rows were sealed in the order of their ids
  const inOrder = [...entries].sort((a, b) => (a.auditId < b.auditId ? -1 : 1));
  const reordered =
    sealHash(
      seal,
      inOrder.map((entry) => entry.rowHash),
    ) === seal.hash;
  if (!reordered) inSeal('was changed: its hash does not follow from its number, time, predecessor and rows');
  else
    for (const { auditId } of entries.filter((entry, place) => entry !== inOrder[place]))
      inSeal('is at another position than when it was sealed', auditId);
  return hash;
}

/** An unsealed row normally waits some seconds for the sealer; one that is not queued was inserted in another way. */
async function verifyUnsealed(manager: EntityManager, report: AuditReport, add: Add): Promise<void> {
  for await (const { auditId, isQueued, isOld } of unsealedEvents(manager)) {
    if (!isQueued)
      add({
        auditId,
        seal: null,
        problem: 'is neither sealed nor queued: it was inserted without the trigger, or its entry was removed',
      });
    else if (isOld)
      add({ auditId, seal: null, problem: 'has waited for its seal for over a minute: is no API process running?' });
    else report.waiting += 1;
  }
}

async function verifyQueue(manager: EntityManager, add: Add): Promise<void> {
  const rows = await manager.query<{ audit_id: string; is_sealed: boolean }[]>(
    `select p.audit_id, s.audit_id is not null as is_sealed
       from audit_pending p
       left join audit_events e using (audit_id)
       left join audit_seal_entries s using (audit_id)
      where e.audit_id is null or s.audit_id is not null
      order by p.audit_id limit $1`,
    [findingLimit],
  );
  for (const { audit_id: auditId, is_sealed: isSealed } of rows)
    add({ auditId, seal: null, problem: isSealed ? 'is queued although it is sealed' : 'was removed before it was sealed' });
}
