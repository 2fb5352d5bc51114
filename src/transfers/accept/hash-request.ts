import { createHash } from 'node:crypto';

/** SHA-256 in hex over client id and idempotency key, a zero byte between them: two requests never have the same one. */
export const hashRequest = (clientId: string, idempotencyKey: string): string =>
  createHash('sha256').update(`${clientId}\0${idempotencyKey}`).digest('hex');
