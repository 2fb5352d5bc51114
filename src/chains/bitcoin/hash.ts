import { createHash } from 'node:crypto';

const sha256 = (bytes: Buffer): Buffer => createHash('sha256').update(bytes).digest();
/** Of headers, transactions and the nodes of hash trees. */
export const doubleSha256 = (bytes: Buffer): Buffer => sha256(sha256(bytes));
