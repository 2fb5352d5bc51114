import { createHash } from 'node:crypto';

/** Hashes of the audit log's hash chain, in hex. They can be recomputed from the rows with SHA-256 and JSON only. */

/** Maximum number of rows in a seal. */
export const sealLimit = 1_000;
/** Previous hash of the first seal. */
export const genesisHash = '0'.repeat(64);

export interface Seal {
  seq: number;
  /** Seconds since 1970 with microseconds, in the format of Postgres. */
  sealedAt: string;
  prevHash: string;
}

/** A seal to be stored elsewhere: if the chain still contains it, nothing before it was removed or changed. */
export interface AuditHead {
  seq: number;
  hash: string;
}

/**
 * SQL: every column of an event (alias `e`) as text, in the order that is hashed. The text of a `jsonb` value is unique, and the epoch
 * does not depend on time zone or date format.
 */
export const eventFields = /* sql */ `array[e.audit_id::text, extract(epoch from e.at)::text, e.action, e.outcome, e.actor_type, e.actor_id,
  e.client_id::text, e.subject_type, e.subject_id, e.detail::text, e.request_id]`;

/** Hash of the columns of `eventFields`; a JSON array of strings and nulls is an unambiguous encoding. */
export const rowHash = (fields: (string | null)[]): string => sha256(JSON.stringify(['audit event 1', ...fields]));

export const sealHash = ({ seq, sealedAt, prevHash }: Seal, rowHashes: string[]): string =>
  sha256(JSON.stringify(['audit seal 1', seq, sealedAt, prevHash, rowHashes]));

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
