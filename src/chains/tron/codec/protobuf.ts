/**
 * Protocol Buffers' wire format (https://protobuf.dev/programming-guides/encoding/), in its one canonical form: fields in the order of
 * their numbers, each at most once, numbers as short as possible, nothing that has its default value. Everything else is refused.
 */

export type WireType = 'number' | 'bytes';
/** The fields that a message may have, by their numbers. */
export type Shape = Readonly<Record<number, WireType>>;
type Value = bigint | Buffer;
export type Field = readonly [number: number, value: bigint | Uint8Array];

/** Numbers are not negative here. */
const maxNumber = 2n ** 63n - 1n;
const codes: Record<WireType, number> = { number: 0, bytes: 2 };

/** A message that was read. */
export class Message {
  constructor(private readonly fields: ReadonlyMap<number, Value>) {}

  /** 0n where it is absent. */
  number(field: number): bigint {
    return (this.fields.get(field) as bigint | undefined) ?? 0n;
  }

  /** Empty where it is absent. */
  bytes(field: number): Buffer {
    return (this.fields.get(field) as Buffer | undefined) ?? Buffer.alloc(0);
  }
}

/** @throws Error for bytes that are not the canonical form of a message of this shape. */
export function readMessage(bytes: Uint8Array, shape: Shape): Message {
  const reader = new Reader(Buffer.from(bytes));
  const fields = new Map<number, Value>();
  let last = 0;
  while (!reader.isAtEnd) {
    const tag = Number(reader.number());
    const field = Math.floor(tag / 8);
    const type = shape[field];
    if (type === undefined || codes[type] !== tag % 8) throw new Error(`there is a field ${field} that no payment has`);
    if (field <= last) throw new Error('the fields are not in their order');
    last = field;
    const value = type === 'number' ? reader.number() : reader.bytes();
    if (value === 0n || (typeof value !== 'bigint' && value.length === 0)) throw new Error('a field has its default value');
    fields.set(field, value);
  }
  return new Message(fields);
}

/** `fields`: in the order of their numbers; those with default values are left out. */
export function writeMessage(fields: readonly Field[]): Buffer {
  return Buffer.concat(
    fields.flatMap(([field, value]) => {
      if (typeof value === 'bigint') return value === 0n ? [] : [writeTag(field, 'number'), writeNumber(value)];
      return value.length === 0 ? [] : [writeTag(field, 'bytes'), writeNumber(BigInt(value.length)), value];
    }),
  );
}

const writeTag = (field: number, type: WireType): Buffer => writeNumber(BigInt(field * 8 + codes[type]));

function writeNumber(value: bigint): Buffer {
  if (value < 0n || value > maxNumber) throw new Error('a number is out of range');
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  return Buffer.from([...bytes, Number(rest)]);
}

class Reader {
  private position = 0;

  constructor(private readonly data: Buffer) {}

  get isAtEnd(): boolean {
    return this.position >= this.data.length;
  }

  number(): bigint {
    let value = 0n;
    // nine groups of seven bits hold every number that is not negative
    for (let group = 0n; group < 9n; group += 1n) {
      const byte = this.data[this.position];
      if (byte === undefined) throw new Error('the message ends within a number');
      this.position += 1;
      value |= BigInt(byte & 127) << (7n * group);
      if (byte >= 128) continue;
      if (byte === 0 && group > 0n) throw new Error('a number is not as short as possible');
      return value;
    }
    throw new Error('a number is out of range');
  }

  bytes(): Buffer {
    const length = this.number();
    if (length > BigInt(this.data.length - this.position)) throw new Error('the message ends within a field');
    const start = this.position;
    this.position += Number(length);
    return this.data.subarray(start, this.position);
  }
}
