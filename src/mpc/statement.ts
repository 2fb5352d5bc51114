import { createHash, sign, verify, type KeyObject } from 'node:crypto';
import Joi from 'joi';
import { GatewayError } from '../platform/errors';

/** A text that a node has signed with its identity key. */
export interface SignedStatement {
  /** JSON. */
  text: string;
  /** 64 bytes. */
  signature: Buffer;
}

export type StatementType = 'entry' | 'ban' | 'refusal' | 'key' | 'answer' | 'orders';

/** Largest text: an entry with 64 digests and 64 resources. */
const maxTextLength = 24 * 1024;
/** IEEE P1363: r || s, 64 bytes for P-256. */
const dsaEncoding = 'ieee-p1363';

/** The type is signed too: a statement never stands for one of another type. */
const signedBytes = (type: StatementType, text: string): Buffer => Buffer.from(`custody-gateway/mpc/${type}/v1\0${text}`);

export function signStatement(type: StatementType, fields: object, key: KeyObject): SignedStatement {
  const text = JSON.stringify(fields);
  return { text, signature: sign('sha256', signedBytes(type, text), { key, dsaEncoding }) };
}

export function verifyStatement(type: StatementType, { text, signature }: SignedStatement, key: KeyObject): boolean {
  return signature.length === 64 && verify('sha256', signedBytes(type, text), { key, dsaEncoding }, signature);
}

/** The one of the keys that a statement is signed with. */
export const findSigner = (type: StatementType, statement: SignedStatement, keys: readonly KeyObject[]): KeyObject | undefined =>
  keys.find((key) => verifyStatement(type, statement, key));

/** SHA-256 of the text, in hex. */
export const hashStatement = ({ text }: Pick<SignedStatement, 'text'>): string => createHash('sha256').update(text).digest('hex');

/** As it travels in JSON. */
export interface WireStatement {
  text: string;
  signature: string;
}

export const wireStatementSchema = Joi.object<WireStatement, true>({
  text: Joi.string().max(maxTextLength).required(),
  signature: Joi.string().base64().length(88).required(),
});

export const toWire = ({ text, signature }: SignedStatement): WireStatement => ({
  text,
  signature: signature.toString('base64'),
});
export const fromWire = ({ text, signature }: WireStatement): SignedStatement => ({
  text,
  signature: Buffer.from(signature, 'base64'),
});

/** @throws GatewayError invalid_parameter for text that is not JSON. */
export function parseStatement({ text }: Pick<SignedStatement, 'text'>): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new GatewayError('invalid_parameter', 'a statement is not JSON');
  }
}
