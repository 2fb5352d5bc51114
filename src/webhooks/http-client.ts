import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import { type ResolvedAddress, TargetRefused, type TargetGuard } from './ssrf-guard';

export const sendLimits = {
  connectMs: 10_000,
  /** From the DNS lookup to the end of the response. */
  totalMs: 15_000,
  bodyBytes: 64 * 1024,
  /** Of the response; the rest is not read. */
  responseBytes: 4 * 1024,
  excerptBytes: 1024,
  responseHeaderBytes: 8 * 1024,
} as const;

/** Outcome of one request: a response or an error. */
export interface HttpOutcome {
  at: Date;
  durationMs: number;
  statusCode: number | null;
  /** Code for the attempt log: timeout, dns, blocked_address, connection_refused, tls … */
  error: string | null;
  /** The beginning of the response body, printable, at most 1 KB. */
  excerpt: string;
  /** Raw Retry-After header. */
  retryAfter: string | null;
}

export interface SendOptions {
  targets: TargetGuard;
  limits?: { connectMs: number; totalMs: number };
  /** Additional certificate authorities, PEM. */
  ca?: string;
}

/**
 * Sends one POST on a new connection to exactly the addresses that were checked. Does not follow redirects. Never throws: errors are
 * part of the outcome.
 */
export async function send(
  { targets, limits = sendLimits, ca }: SendOptions,
  { url: text, headers, body }: { url: string; headers: Record<string, string>; body: string },
): Promise<HttpOutcome> {
  const at = new Date();
  const startedAt = performance.now();
  const deadline = AbortSignal.timeout(limits.totalMs);
  const toOutcome = (fields: Partial<HttpOutcome>): HttpOutcome => ({
    at,
    durationMs: Math.round(performance.now() - startedAt),
    statusCode: null,
    error: null,
    excerpt: '',
    retryAfter: null,
    ...fields,
  });
  if (Buffer.byteLength(body) > sendLimits.bodyBytes) return toOutcome({ error: 'body_too_large' });
  try {
    const url = targets.parse(text);
    const addresses = await targets.resolveTarget(url, deadline);
    const outgoing = { headers, body, signal: deadline, connectMs: limits.connectMs, ca };
    const response = await abortable(request(url, addresses, outgoing), deadline);
    const excerpt = await readExcerpt(response, deadline);
    const { statusCode = 0 } = response;
    // the parser accepts every number of three digits
    if (statusCode < 100) return toOutcome({ error: 'bad_response', excerpt });
    return toOutcome({ statusCode, excerpt, retryAfter: response.headers['retry-after'] ?? null });
  } catch (error) {
    return toOutcome({ error: deadline.aborted ? 'timeout' : toErrorCode(error) });
  }
}

interface Outgoing {
  headers: Record<string, string>;
  body: string;
  signal: AbortSignal;
  connectMs: number;
  ca: string | undefined;
}

function request(url: URL, addresses: ResolvedAddress[], outgoing: Outgoing): Promise<IncomingMessage> {
  const { headers, body, signal, connectMs, ca } = outgoing;
  return new Promise((resolve, reject) => {
    const secure = url.protocol === 'https:';
    const outgoingRequest = (secure ? https : http).request(url, {
      method: 'POST',
      agent: false,
      lookup: pinnedTo(addresses),
      maxHeaderSize: sendLimits.responseHeaderBytes,
      signal,
      headers: { ...headers, 'content-length': Buffer.byteLength(body), connection: 'close' },
      ...(ca !== undefined && { ca }),
    });
    const timer = setTimeout(() => outgoingRequest.destroy(new SendError('timeout')), connectMs);
    outgoingRequest.once('socket', (socket) => socket.once(secure ? 'secureConnect' : 'connect', () => clearTimeout(timer)));
    outgoingRequest.once('close', () => {
      clearTimeout(timer);
      // no other event follows a response that is not one, such as 101 (Switching Protocols)
      reject(new SendError('bad_response'));
    });
    outgoingRequest.on('error', reject);
    outgoingRequest.once('response', resolve);
    outgoingRequest.end(body);
  });
}

/** Returns the checked addresses without a DNS query. (Node does no lookup for an address literal in the url.) */
function pinnedTo(addresses: ResolvedAddress[]): LookupFunction {
  return (_hostname, options, callback) => {
    const [first] = addresses;
    if (!first) return callback(new SendError('dns'), '', 0);
    if (options.all) return callback(null, addresses);
    callback(null, first.address, first.family);
  };
}

/** Reads the part of the response that is stored, then closes the connection: a receiver cannot send without end. */
function readExcerpt(response: IncomingMessage, signal: AbortSignal): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const finish = () => {
      response.destroy();
      resolve(printable(Buffer.concat(chunks)));
    };
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= sendLimits.responseBytes) finish();
    });
    // the status was received: a body that is cut off or does not end is no error
    for (const end of ['end', 'error', 'aborted', 'close']) response.once(end, finish);
    signal.addEventListener('abort', finish, { once: true });
  });
}

/** Removes control characters, which Postgres refuses or a terminal would interpret. */
function printable(bytes: Buffer): string {
  const text = bytes
    .toString('utf8')
    .replace(/[^\P{Cc}\t\n\r]|\p{Cs}/gu, '')
    .trim();
  let cut = text.slice(0, sendLimits.excerptBytes);
  while (Buffer.byteLength(cut) > sendLimits.excerptBytes) cut = cut.slice(0, -1);
  return cut.replace(/\p{Cs}/gu, '');
}

class SendError extends Error {
  constructor(readonly kind: string) {
    super(kind);
  }
}

const errorCodes: Record<string, string> = {
  ECONNREFUSED: 'connection_refused',
  ECONNRESET: 'connection_reset',
  EPIPE: 'connection_reset',
  ETIMEDOUT: 'timeout',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  EADDRNOTAVAIL: 'unreachable',
  HPE_HEADER_OVERFLOW: 'bad_response',
};

/** A code, never the error's text, which may contain the url. */
function toErrorCode(error: unknown): string {
  if (error instanceof TargetRefused || error instanceof SendError) return error.kind;
  const { code = '' } = error as { code?: string };
  if (errorCodes[code]) return errorCodes[code];
  if (code.startsWith('HPE_')) return 'bad_response';
  if (/CERT|TLS|SSL|SIGNED|SIGNATURE|ALTNAME|EPROTO/.test(code)) return 'tls';
  return 'connection_failed';
}

/** @throws SendError timeout once the signal is aborted, even when the work never ends. */
function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(new SendError('timeout')), { once: true });
    if (signal.aborted) reject(new SendError('timeout'));
    work.then(resolve, reject);
  });
}
