/** The JSON of java-tron's HTTP API: framework/src/main/java/org/tron/core/services/http/{JsonFormat,Util}.java. */
import { BadBase58, fromBase58, sha256, toBase58 } from './address';
import { contractTypes, parameterSchemas, rawSchema, transactionSchema, type Transaction } from './messages';
import { decode, encode, emptyMessage, type Field, type Message, type Schema, MalformedMessage } from './protobuf';

export type Json = string | number | bigint | boolean | null | Json[] | JsonObject;
export interface JsonObject {
  [key: string]: Json | undefined;
}

/** JSON that java-tron's parser refuses; `javaClass` is what its answer names. */
export class BadJson extends Error {
  constructor(
    readonly javaClass: string,
    message: string,
  ) {
    super(message);
  }
}

const parseException = 'org.tron.core.services.http.JsonFormat$ParseException';
const mark = '\u0001';

/** Numbers of 64 bits are written as numbers, as java-tron does. */
export function stringify(value: Json): string {
  const text = JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? `${mark}${part}${mark}` : part));
  return text.replace(/"\\u0001(-?\d+)\\u0001"/g, '$1');
}

/** Text of a JSON value; empty for lists and objects. */
export const asText = (value: Json | undefined): string =>
  value === undefined || value === null || typeof value === 'object' ? '' : String(value);

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Addresses as T… with `visible`, as hex otherwise. */
export const showAddress = (bytes: Uint8Array, visible: boolean): string =>
  visible ? toBase58(bytes) : Buffer.from(bytes).toString('hex');

/** Fields with default values are left out. */
export function toJson(schema: Schema, message: Message, visible: boolean): JsonObject {
  const json: JsonObject = {};
  for (const field of Object.values(schema)) {
    const value = message[field.name];
    if (Array.isArray(value)) {
      if (value.length > 0) json[field.name] = value.map((single) => showValue(field, single, visible));
    } else if (value !== undefined && value !== 0 && value !== 0n && value !== '' && (value as Buffer).length !== 0) {
      json[field.name] = showValue(field, value, visible);
    }
  }
  return json;
}

function showValue(field: Field, value: unknown, visible: boolean): Json {
  if (Buffer.isBuffer(value)) {
    if (visible && field.format === 'text') return value.toString();
    return field.format === 'address' ? showAddress(value, visible) : value.toString('hex');
  }
  if (field.kind === 'enum') return field.values?.[value as number] ?? (value as number);
  if (field.kind === 'message') return toJson(field.message ?? {}, value as Message, visible);
  return value as Json;
}

/**
 * Fields that the schema does not name are ignored.
 * @throws BadJson
 */
export function fromJson(schema: Schema, json: JsonObject, visible: boolean): Message {
  const message = emptyMessage(schema);
  for (const field of Object.values(schema)) {
    const value = json[field.name];
    if (value === undefined || value === null) continue;
    if (!field.repeated) message[field.name] = readValue(field, value, visible);
    else if (Array.isArray(value)) message[field.name] = value.map((single) => readValue(field, single, visible));
    else throw new BadJson(parseException, '1:1: Expected "[".');
  }
  return message;
}

function readValue(field: Field, value: Json, visible: boolean): Buffer | bigint | number | string | Message {
  switch (field.kind) {
    case 'bytes':
      return readBytes(field, value, visible);
    case 'int64':
      return readInteger(value, 64);
    case 'int32':
      return Number(readInteger(value, 32));
    case 'string':
      if (typeof value !== 'string') throw new BadJson(parseException, '1:1: Expected string.');
      return value;
    case 'enum': {
      const number = Object.entries(field.values ?? {}).find(([, name]) => name === value)?.[0];
      if (number === undefined) throw new BadJson(parseException, `1:1: Enum type has no value named "${asText(value)}".`);
      return Number(number);
    }
    case 'message':
      if (!isObject(value)) throw new BadJson(parseException, '1:1: Expected "{".');
      return fromJson(field.message ?? {}, value, visible);
  }
}

function readBytes(field: Field, value: Json, visible: boolean): Buffer {
  if (typeof value !== 'string') throw new BadJson(parseException, '1:1: Expected string.');
  if (visible && field.format === 'text') return Buffer.from(value);
  if (!visible || field.format !== 'address') return readHex(value);
  try {
    return fromBase58(value);
  } catch (error) {
    if (!(error instanceof BadBase58)) throw error;
    if (error.message === 'wrong checksum') throw new BadJson('java.lang.NullPointerException', 'null');
    throw new BadJson(parseException, `1:1: INVALID base58 String, ${error.message}`);
  }
}

/** @throws BadJson */
export function readHex(text: string): Buffer {
  const digits = text.replace(/^0x/, '');
  if (!/^[0-9a-f]*$/i.test(digits)) throw new BadJson(parseException, '1:1: INVALID hex String');
  return Buffer.from(digits.length % 2 ? `0${digits}` : digits, 'hex');
}

/** @throws BadJson, also for a number that JSON.parse may have rounded */
export function readInteger(value: Json | undefined, bits: number): bigint {
  const isInteger = Number.isSafeInteger(value) || (typeof value === 'string' && /^-?\d{1,20}$/.test(value));
  if (!isInteger) throw new BadJson(parseException, `1:1: Couldn't parse integer: For input string: "${asText(value)}"`);
  const number = BigInt(value as string | number);
  if (BigInt.asIntN(bits, number) !== number) throw new BadJson(parseException, '1:1: Number out of range');
  return number;
}

export const rawBytes = (transaction: Transaction): Buffer => encode(rawSchema, transaction.raw_data ?? {});
export const transactionId = (transaction: Transaction): Buffer => sha256(rawBytes(transaction));

/** A transaction as the HTTP API shows it (Util.printTransactionToJSON). */
export function showTransaction(transaction: Transaction, visible: boolean): JsonObject {
  const json = toJson(transactionSchema, transaction as unknown as Message, visible);
  const contract = transaction.raw_data?.contract.map(({ type, parameter, Permission_id }) => {
    const schema = parameterSchemas[contractTypes[type] ?? ''];
    const value = schema ? showParameter(schema, parameter?.value, visible) : {};
    const shown: JsonObject = {
      parameter: { value, type_url: parameter?.type_url ?? '' },
      type: contractTypes[type] ?? type,
    };
    if (Permission_id > 0) shown.Permission_id = Permission_id;
    return shown;
  });
  return {
    ...json,
    txID: transactionId(transaction).toString('hex'),
    raw_data: { ...(json.raw_data as JsonObject | undefined), contract: contract ?? [] },
    raw_data_hex: rawBytes(transaction).toString('hex'),
  };
}

function showParameter(schema: Schema, bytes: Buffer | undefined, visible: boolean): JsonObject {
  try {
    return toJson(schema, decode(schema, bytes ?? Buffer.alloc(0)), visible);
  } catch (error) {
    if (error instanceof MalformedMessage) return {};
    throw error;
  }
}

/**
 * A transaction of the HTTP API, from its `raw_data` (Util.packTransaction): `raw_data_hex` and `txID` are not read. A contract whose
 * parameter cannot be read is left out.
 * @throws BadJson
 */
export function readTransaction(json: JsonObject, visible: boolean): Transaction {
  const raw = json.raw_data;
  if (!isObject(raw) || !Array.isArray(raw.contract)) throw new BadJson('java.lang.NullPointerException', 'null');
  const contract = raw.contract.flatMap((single) => readContract(single, visible));
  try {
    return fromJson(transactionSchema, { ...json, raw_data: { ...raw, contract } }, visible) as unknown as Transaction;
  } catch (error) {
    if (error instanceof BadJson) throw new BadJson('java.lang.NullPointerException', 'null');
    throw error;
  }
}

function readContract(contract: Json, visible: boolean): Json[] {
  if (!isObject(contract) || !isObject(contract.parameter)) return [];
  const { parameter, type } = contract;
  const isKnown = Object.values(contractTypes).includes(asText(type));
  if (!isKnown || !isObject(parameter.value)) return [];
  const schema = parameterSchemas[asText(type)];
  // refused when it is read, for what the simulator does not have
  if (!schema) return [{ ...contract, parameter: { ...parameter, value: '' } }];
  try {
    const value = encode(schema, fromJson(schema, parameter.value, visible)).toString('hex');
    return [{ ...contract, parameter: { ...parameter, value } }];
  } catch (error) {
    if (error instanceof BadJson) return [];
    throw error;
  }
}
