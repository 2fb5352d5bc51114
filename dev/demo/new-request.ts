import { randomUUID } from 'node:crypto';

/** A request that creates something, under a key of its own: its repeats create nothing more. */
export const newRequest = <B>(body: B) => ({ params: { header: { 'Idempotency-Key': randomUUID() } }, body });
