import { createHash } from 'node:crypto';

/** SHA-256 of the message: every signature over it makes another transaction id. 64 hex digits. */
export const messageHash = (message: Uint8Array): string => createHash('sha256').update(message).digest('hex');
