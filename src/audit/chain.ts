import { createHash } from 'node:crypto';

/** Hashes of the audit log's chain. Hashes are hex; whoever has the rows can recompute them with SHA-256 and JSON alone. */

/** Most rows of one seal. */
export const sealLimit = 1_000;
/** What the first seal continues. */
export const genesisHash = '0'.repeat(64);

export interface Seal {
  seq: number;
  /** Seconds since 1970 with microseconds, as Postgres writes them. */
  sealedAt: string;
  prevHash: string;
}

/** A seal that can be kept elsewhere: a chain that still contains it has lost and changed nothing up to it. */
export interface AuditHead {
  seq: number;
  hash: string;
}

/**
 * SQL: every column of an event (alias `e`) as text, in the order that is hashed. `jsonb` has one text for one value, and
 * the epoch has neither time zone nor format.
 */
export const eventFields = /* sql */ `array[e.audit_id::text, extract(epoch from e.at)::text, e.action, e.outcome, e.actor_type, e.actor_id,
  e.client_id::text, e.subject_type, e.subject_id, e.detail::text, e.request_id]`;

/** Of the columns of `eventFields`; a JSON array of strings and nulls is unambiguous. */
export const rowHash = (fields: (string | null)[]): string => sha256(JSON.stringify(['audit event 1', ...fields]));

export const sealHash = ({ seq, sealedAt, prevHash }: Seal, rowHashes: string[]): string =>
  sha256(JSON.stringify(['audit seal 1', seq, sealedAt, prevHash, rowHashes]));

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
