import { uuidv7 } from 'uuidv7';

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

/** A new UUIDv7 (RFC 9562): time-ordered, so that lists sort by id and indexes stay local. */
export const newId = (): string => uuidv7();

/** True for a valid UUID. Other ids cannot exist, so that look-ups return not_found without a query. */
export const isUuid = (value: string): boolean => uuidPattern.test(value);
