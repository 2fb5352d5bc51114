import { uuidv7 } from 'uuidv7';

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

/** A new UUIDv7 (RFC 9562): time-ordered, so that lists sort by id and indexes stay local. */
export const newId = (): string => uuidv7();

/** True for anything Postgres takes as uuid. Ids that fail this cannot exist: look-ups answer not_found without a query. */
export const isUuid = (value: string): boolean => uuidPattern.test(value);
