/** Where a row stands in the list of transactions. */
export interface Position {
  /** Microseconds since the epoch, as Postgres keeps them. */
  createdAt: bigint;
  txId: string;
}

/** 9999-12-31T23:59:59.999999Z */
const latest = 253_402_300_799_999_999n;

/** A cursor as clients get it: 32 characters of base64url, of 8 bytes for the time and 16 for the id. Nothing in it is secret. */
export function toCursor({ createdAt, txId }: Position): string {
  const time = Buffer.alloc(8);
  time.writeBigInt64BE(createdAt);
  return Buffer.concat([time, Buffer.from(txId.replaceAll('-', ''), 'hex')]).toString('base64url');
}

export const cursorPattern = /^[A-Za-z0-9_-]{32}$/;

/** null for a text that is no cursor. */
export function readCursor(text: string): Position | null {
  if (!cursorPattern.test(text)) return null;
  const bytes = Buffer.from(text, 'base64url');
  const createdAt = bytes.readBigInt64BE();
  return createdAt < 0n || createdAt > latest ? null : { createdAt, txId: toUuid(bytes.toString('hex', 8)) };
}

const toUuid = (hex: string): string => hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');

/** As a timestamptz that Postgres reads without loss. */
export function toTimestamp(microseconds: bigint): string {
  const milliseconds = new Date(Number(microseconds / 1_000n)).toISOString();
  return milliseconds.replace('Z', `${(microseconds % 1_000n).toString().padStart(3, '0')}Z`);
}
