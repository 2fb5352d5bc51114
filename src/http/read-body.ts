import { promisify } from 'node:util';
import { brotliDecompress, unzip } from 'node:zlib';
import { parse } from '@hapi/bourne';
import getRawBody from 'raw-body';
import { GatewayError } from '../platform/errors';
import type { GatewayContext } from './context';

const maxBodyBytes = 100 * 1024;
/** Validation takes some 16 µs a value: 2,000 of them keep other requests waiting for 30 ms. A payment of x402 has some 50, in 6 levels. */
const maxValues = 2_000;
const maxDepth = 32;

/**
 * The JSON value of a body of at most 100 KB in UTF-8 (RFC 8259, section 8.1), or undefined without a body.
 * @throws GatewayError unsupported_media_type, payload_too_large, invalid_parameter: no UTF-8, no JSON, too many or too deeply nested values.
 */
export const readJson = (ctx: GatewayContext): Promise<unknown> => readValue(ctx, 'ignore');

/**
 * The same for a body that has to be an object of known fields.
 * @throws GatewayError as `readJson`; invalid_parameter also for other values than objects, and a field `__proto__`, which validation ignores.
 */
export async function readObject(ctx: GatewayContext): Promise<unknown> {
  const value = await readValue(ctx, 'error');
  if (value === undefined) return {};
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalidBody('is not a JSON object');
  return value;
}

async function readValue(ctx: GatewayContext, protoAction: 'ignore' | 'error'): Promise<unknown> {
  if (!hasBody(ctx)) return undefined;
  assertMediaType(ctx.get('Content-Type'));
  const bytes = await readBytes(ctx);
  const text = decode(bytes);
  if (text === '') return undefined;
  assertLimited(bytes);
  try {
    return parse(text, { protoAction }) as unknown;
  } catch (error) {
    throw invalidBody('is not valid JSON', error);
  }
}

const hasBody = (ctx: GatewayContext): boolean =>
  ctx.get('Transfer-Encoding') !== '' || Number(ctx.get('Content-Length') || 0) > 0;

function assertMediaType(contentType: string): void {
  const [type = '', ...parameters] = contentType.split(';').map((part) => part.trim().toLowerCase());
  if (type !== 'application/json')
    throw new GatewayError('unsupported_media_type', 'The body has to be sent as application/json');
  const charset = parameters.find((parameter) => parameter.startsWith('charset='));
  if (charset !== undefined && !/^charset="?utf-?8"?$/.test(charset))
    throw new GatewayError('unsupported_media_type', 'The body has to be encoded in UTF-8');
}

type Decoder = (bytes: Buffer, limits: { maxOutputLength: number }) => Promise<Buffer>;

/** By Content-Encoding. Each takes bytes, not a stream: none is left open when the connection is gone, or a limit has been passed. */
const decoders: ReadonlyMap<string, Decoder> = new Map<string, Decoder>([
  ['gzip', promisify(unzip)],
  ['deflate', promisify(unzip)],
  ['br', promisify(brotliDecompress)],
  ['identity', (bytes) => Promise.resolve(bytes)],
]);

/** The whole body is read before any of it is decoded: at most 100 KB as it is sent, and at most 100 KB decoded. */
async function readBytes({ req }: GatewayContext): Promise<Buffer> {
  try {
    const decode = decoders.get(req.headers['content-encoding'] || 'identity');
    if (!decode) throw new GatewayError('unsupported_media_type', 'The content encoding is not supported');
    // a connection that has gone before the body is read does not tell so again
    if (req.destroyed) throw notArrived();
    const bytes = await getRawBody(req, { limit: maxBodyBytes, length: req.headers['content-length'] ?? null });
    // answered with 408 meanwhile: what has been refused is not worked on
    if (!req.socket.writable) throw notArrived();
    return bytes.length === 0 ? bytes : await decode(bytes, { maxOutputLength: maxBodyBytes });
  } catch (error) {
    // what is left unread is discarded, and only for a short time: src/http/connections.ts
    req.resume();
    throw toReadError(error);
  }
}

const notArrived = (): GatewayError => invalidBody('has not arrived');

function toReadError(cause: unknown): unknown {
  if (cause instanceof GatewayError) return cause;
  const { status, code } = cause as { status?: number; code?: unknown };
  if (status === 413 || code === 'ERR_BUFFER_TOO_LARGE')
    return new GatewayError('payload_too_large', 'The body is larger than 100 KB', { cause });
  // a body that does not match its Content-Encoding: zlib has codes such as Z_DATA_ERROR, Brotli ERR__ERROR_FORMAT_…
  if (status === 400 || /^(Z_|ERR__)/.test(String(code)))
    return invalidBody('does not match its length or content encoding', cause);
  return cause;
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw invalidBody('is not valid UTF-8', error);
  }
}

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c];
const isOpening = (byte: number): boolean => byte === 0x7b || byte === 0x5b;
const isClosing = (byte: number): boolean => byte === 0x7d || byte === 0x5d;
const isSpace = (byte: number): boolean => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);

/**
 * Counts values and levels in the bytes, before anything is made of them: parsing what is refused would take ten times as long. Of what is
 * no JSON it may count anything; parsing refuses it.
 */
function assertLimited(bytes: Buffer): void {
  let [depth, count] = [0, 1];
  let [isText, isFirst] = [false, false];
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] as number;
    if (isText) {
      if (byte === backslash) at += 1;
      else if (byte === quote) isText = false;
      continue;
    }
    if (isSpace(byte)) continue;
    if (byte === comma || (isFirst && !isClosing(byte))) count += 1;
    isFirst = isOpening(byte);
    isText = byte === quote;
    if (isFirst) depth += 1;
    else if (isClosing(byte)) depth -= 1;
    if (depth > maxDepth) throw invalidBody(`has more than ${maxDepth} levels`);
    if (count > maxValues) throw invalidBody(`has more than ${maxValues} values`);
  }
}

const invalidBody = (message: string, cause?: unknown): GatewayError =>
  new GatewayError('invalid_parameter', `The body ${message}`, { cause, fields: [{ field: 'body', message }] });
