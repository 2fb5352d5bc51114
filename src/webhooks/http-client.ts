import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import { type ResolvedAddress, TargetRefused, type TargetGuard } from './ssrf-guard';

export const sendLimits = {
  connectMs: 10_000,
  /** From the look-up of the name to the end of the answer. */
  totalMs: 15_000,
  bodyBytes: 64 * 1024,
  /** Of the answer; what follows is not read. */
  answerBytes: 4 * 1024,
  excerptBytes: 1024,
  answerHeaderBytes: 8 * 1024,
} as const;

/** What became of one request. Either there was an answer or there is an error. */
export interface HttpOutcome {
  at: Date;
  durationMs: number;
  statusCode: number | null;
  /** A word for the attempt log: timeout, dns, blocked_address, connection_refused, tls … */
  error: string | null;
  /** The beginning of the answer, printable, at most 1 KB. */
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
 * One POST, on a connection of its own to exactly the addresses that were checked; redirects are not followed. Never throws:
 * whatever goes wrong is in the answer.
 */
export async function send(
  { targets, limits = sendLimits, ca }: SendOptions,
  { url: text, headers, body }: { url: string; headers: Record<string, string>; body: string },
): Promise<HttpOutcome> {
  const at = new Date();
  const begun = performance.now();
  const deadline = AbortSignal.timeout(limits.totalMs);
  const done = (what: Partial<HttpOutcome>): HttpOutcome => ({
    at,
    durationMs: Math.round(performance.now() - begun),
    statusCode: null,
    error: null,
    excerpt: '',
    retryAfter: null,
    ...what,
  });
  if (Buffer.byteLength(body) > sendLimits.bodyBytes) return done({ error: 'body_too_large' });
  try {
    const url = targets.parse(text);
    const addresses = await targets.addressesOf(url, deadline);
    const outgoing = { headers, body, signal: deadline, connectMs: limits.connectMs, ca };
    const response = await abortable(request(url, addresses, outgoing), deadline);
    const excerpt = await readSome(response, deadline);
    const { statusCode = 0 } = response;
    // three digits are all that is asked of a status on the wire
    if (statusCode < 100) return done({ error: 'bad_answer', excerpt });
    return done({ statusCode, excerpt, retryAfter: response.headers['retry-after'] ?? null });
  } catch (error) {
    return done({ error: deadline.aborted ? 'timeout' : toErrorName(error) });
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
    const call = (secure ? https : http).request(url, {
      method: 'POST',
      agent: false,
      lookup: pinnedTo(addresses),
      maxHeaderSize: sendLimits.answerHeaderBytes,
      signal,
      headers: { ...headers, 'content-length': Buffer.byteLength(body), connection: 'close' },
      ...(ca !== undefined && { ca }),
    });
    const late = setTimeout(() => call.destroy(new SendError('timeout')), connectMs);
    call.once('socket', (socket) => socket.once(secure ? 'secureConnect' : 'connect', () => clearTimeout(late)));
    call.once('close', () => {
      clearTimeout(late);
      // nothing else tells of an answer that is none, 101 (Switching Protocols) for one
      reject(new SendError('bad_answer'));
    });
    call.on('error', reject);
    call.once('response', resolve);
    call.end(body);
  });
}

/** Answers what was checked and asks nobody. (For an address in the url itself node asks for no look-up.) */
function pinnedTo(addresses: ResolvedAddress[]): LookupFunction {
  return (_hostname, options, callback) => {
    const [first] = addresses;
    if (!first) return callback(new SendError('dns'), '', 0);
    if (options.all) return callback(null, addresses);
    callback(null, first.address, first.family);
  };
}

/** Reads what is kept of the answer, then closes the connection: a receiver cannot keep us reading. */
function readSome(response: IncomingMessage, signal: AbortSignal): Promise<string> {
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
      if (size >= sendLimits.answerBytes) finish();
    });
    // the status has come: an answer that breaks off or does not end is an answer all the same
    for (const end of ['end', 'error', 'aborted', 'close']) response.once(end, finish);
    signal.addEventListener('abort', finish, { once: true });
  });
}

/** Text that Postgres takes and a terminal bears. */
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

const codes: Record<string, string> = {
  ECONNREFUSED: 'connection_refused',
  ECONNRESET: 'connection_reset',
  EPIPE: 'connection_reset',
  ETIMEDOUT: 'timeout',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  EADDRNOTAVAIL: 'unreachable',
  HPE_HEADER_OVERFLOW: 'bad_answer',
};

/** A fixed word and never the error's text, which may hold the url. */
function toErrorName(error: unknown): string {
  if (error instanceof TargetRefused || error instanceof SendError) return error.kind;
  const { code = '' } = error as { code?: string };
  if (codes[code]) return codes[code];
  if (code.startsWith('HPE_')) return 'bad_answer';
  if (/CERT|TLS|SSL|SIGNED|SIGNATURE|ALTNAME|EPROTO/.test(code)) return 'tls';
  return 'connection_failed';
}

/** @throws SendError timeout once the signal is given, whatever becomes of the work. */
function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(new SendError('timeout')), { once: true });
    if (signal.aborted) reject(new SendError('timeout'));
    work.then(resolve, reject);
  });
}
