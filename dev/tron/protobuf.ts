/**
 * Protocol Buffers' wire format (https://protobuf.dev/programming-guides/encoding/), for the few messages that the simulator reads.
 * Encoding gives the one form that java-tron writes when it serialises a message again: fields in order of their numbers, each varint
 * as short as possible, fields with default values left out.
 */
export type Kind = 'int32' | 'int64' | 'enum' | 'bytes' | 'string' | 'message';

export interface Field {
  name: string;
  kind: Kind;
  repeated?: true;
  message?: Schema;
  /** Names of an enum's numbers. */
  values?: Record<number, string>;
  /** How the HTTP API shows bytes with `visible`; hex otherwise. */
  format?: 'address' | 'text';
}
export type Schema = Record<number, Field>;

/** Bytes that are no message of the schema, or have fields that the schema does not know. */
export class MalformedMessage extends Error {}
export class UnknownField extends MalformedMessage {}

type Single = bigint | number | string | Buffer | Message;
export interface Message {
  [field: string]: Single | Single[] | undefined;
}

const maxDepth = 8;
const wireTypes: Record<Kind, number> = { int32: 0, int64: 0, enum: 0, bytes: 2, string: 2, message: 2 };

/**
 * Every field of the schema is set: scalars to their default, lists to an empty one, messages to undefined.
 * @throws MalformedMessage
 */
export function decode<T>(schema: Schema, bytes: Uint8Array, depth = 0): T {
  if (depth > maxDepth) throw new MalformedMessage('too many nested messages');
  const reader = new Reader(Buffer.from(bytes));
  const message = emptyMessage(schema);
  while (!reader.isAtEnd) {
    const tag = Number(reader.varint());
    const field = schema[Math.floor(tag / 8)];
    if (!field || wireTypes[field.kind] !== tag % 8) throw new UnknownField(`unknown field ${Math.floor(tag / 8)}`);
    const value = readValue(reader, field, depth);
    const list = message[field.name];
    if (Array.isArray(list)) list.push(value);
    else message[field.name] = value;
  }
  return message as T;
}

function readValue(reader: Reader, field: Field, depth: number): Single {
  switch (field.kind) {
    case 'int64':
      return BigInt.asIntN(64, reader.varint());
    case 'int32':
    case 'enum':
      return Number(BigInt.asIntN(32, reader.varint()));
    case 'bytes':
      return reader.bytes();
    case 'string':
      return reader.text();
    case 'message':
      return decode<Message>(field.message ?? {}, reader.bytes(), depth + 1);
  }
}

export function emptyMessage(schema: Schema): Message {
  return Object.fromEntries(Object.values(schema).map((field) => [field.name, field.repeated ? [] : getDefault(field.kind)]));
}

function getDefault(kind: Kind): Single | undefined {
  if (kind === 'message') return undefined;
  if (kind === 'int64') return 0n;
  if (kind === 'bytes') return Buffer.alloc(0);
  return kind === 'string' ? '' : 0;
}

const isDefault = (value: Single | undefined): boolean =>
  value === undefined ||
  value === 0n ||
  value === 0 ||
  ((typeof value === 'string' || Buffer.isBuffer(value)) && value.length === 0);

/** The canonical bytes of a message; what its schema does not name is left out. */
export function encode(schema: Schema, message: object): Buffer {
  const parts: Buffer[] = [];
  for (const [number, field] of Object.entries(schema)) {
    const value = (message as Message)[field.name];
    const values = Array.isArray(value) ? value : isDefault(value) ? [] : [value as Single];
    for (const single of values) {
      parts.push(varint(BigInt(Number(number) * 8 + wireTypes[field.kind])), writeValue(field, single));
    }
  }
  return Buffer.concat(parts);
}

function writeValue(field: Field, value: Single): Buffer {
  if (typeof value === 'bigint' || typeof value === 'number') return varint(BigInt.asUintN(64, BigInt(value)));
  const bytes =
    typeof value === 'string' ? Buffer.from(value) : Buffer.isBuffer(value) ? value : encode(field.message ?? {}, value);
  return Buffer.concat([varint(BigInt(bytes.length)), bytes]);
}

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 127n) {
    bytes.push(Number(rest & 127n) | 128);
    rest >>= 7n;
  }
  return Buffer.from([...bytes, Number(rest)]);
}

class Reader {
  private position = 0;

  constructor(private readonly data: Buffer) {}

  get isAtEnd(): boolean {
    return this.position >= this.data.length;
  }

  varint(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.data[this.position];
      if (byte === undefined) throw new MalformedMessage('the message ends within a number');
      this.position += 1;
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return BigInt.asUintN(64, value);
    }
    throw new MalformedMessage('a number has more than ten bytes');
  }

  bytes(): Buffer {
    const length = this.varint();
    if (length > BigInt(this.data.length - this.position)) throw new MalformedMessage('the message ends within a field');
    const start = this.position;
    this.position += Number(length);
    return Buffer.from(this.data.subarray(start, this.position));
  }

  text(): string {
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(this.bytes());
    } catch (error) {
      if (error instanceof MalformedMessage) throw error;
      throw new MalformedMessage('a text is not UTF-8');
    }
  }
}
