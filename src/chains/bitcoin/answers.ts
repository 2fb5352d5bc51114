/** What servers answer, checked: a value of another shape is no answer, and its server has failed. None of these shows the value. */

const malformed = (what: string): Error => new Error(`the answer has no ${what}`);

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** @throws Error, as all of these do. */
export function readObject(value: unknown): Record<string, unknown> {
  if (!isObject(value)) throw malformed('object');
  return value;
}

export function readHeight(value: unknown): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) throw malformed('height');
  return value;
}

/** Of a block or a transaction: 64 lower-case hex digits. */
export function readHash(value: unknown): string {
  if (typeof value !== 'string' || !/^[0-9a-f]{64}$/.test(value)) throw malformed('hash');
  return value;
}

/** A pool of 300 MB, the default of Bitcoin Core, has fewer transactions. */
const maxHashes = 300_000;

/** At most 300,000 of them: the others are left out. */
export function readHashes(value: unknown): string[] {
  if (!Array.isArray(value)) throw malformed('list');
  return value.slice(0, maxHashes).map(readHash);
}

export function readBytes(value: unknown): Buffer {
  if (typeof value !== 'string' || value === '' || value.length % 2 === 1 || !/^[0-9a-f]*$/.test(value)) throw malformed('bytes');
  return Buffer.from(value, 'hex');
}

/** Of a block; the first one has no parent. */
export function readHeader(value: unknown): { height: number; parentHash: string | null } {
  const { height, previousblockhash: parent } = readObject(value);
  return { height: readHeight(height), parentHash: parent === undefined || parent === null ? null : readHash(parent) };
}

/** A server that has taken another transaction than the one it was sent has not said what became of that one. */
export function assertTaken(answer: unknown, id: string): void {
  if (answer !== id) throw malformed('id of the transaction that was sent');
}
