/**
 * Protocol Buffers' wire format as the network reads it: any order, unknown fields, and the last one of a field that stands several
 * times. For transactions of others; what is signed here is read by `readMessage`.
 */

export interface Fields {
  /** 0n where it is absent, or no number. */
  number(field: number): bigint;
  /** Empty where it is absent, or no bytes; the last one of a list. */
  bytes(field: number): Buffer;
}

/** Lengths of values by their wire types. */
const fixedBytes: Readonly<Record<number, number>> = { 1: 8, 5: 4 };
/** Of a group's ends, by their wire types: what is between them is a message of its own, which no field here has. */
const depths: Readonly<Record<number, number>> = { 3: 1, 4: -1 };

/** @throws Error for bytes that are no message. */
export function readFields(data: Buffer): Fields {
  const numbers = new Map<number, bigint>();
  const values = new Map<number, Buffer>();
  let position = 0;
  const take = (length: number): Buffer => {
    if (length > data.length - position) throw new Error('the message ends within a field');
    position += length;
    return data.subarray(position - length, position);
  };
  const readNumber = (): bigint => {
    let value = 0n;
    for (let group = 0n; group < 10n; group += 1n) {
      const byte = take(1)[0] as number;
      value |= BigInt(byte & 127) << (7n * group);
      if (byte < 128) return BigInt.asIntN(64, value);
    }
    throw new Error('a number has more than ten bytes');
  };
  let depth = 0;
  const set = <T>(fields: Map<number, T>, field: number, value: T): void => {
    if (depth === 0) fields.set(field, value);
  };
  while (position < data.length) {
    const tag = Number(BigInt.asUintN(32, readNumber()));
    const [field, type] = [Math.floor(tag / 8), tag % 8];
    const fixed = fixedBytes[type];
    depth += depths[type] ?? 0;
    if (depth < 0) throw new Error('a group ends before it begins');
    if (type in depths) continue;
    if (type === 0) set(numbers, field, readNumber());
    else if (type === 2) set(values, field, take(toLength(readNumber())));
    else if (fixed !== undefined) take(fixed);
    else throw new Error('a field has an unknown type');
  }
  if (depth > 0) throw new Error('a group does not end');
  return { number: (field) => numbers.get(field) ?? 0n, bytes: (field) => values.get(field) ?? Buffer.alloc(0) };
}

function toLength(value: bigint): number {
  if (value < 0n || value > BigInt(Number.MAX_SAFE_INTEGER)) throw new Error('a length is out of range');
  return Number(value);
}
