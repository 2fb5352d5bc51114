import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type Koa from 'koa';
import { problemType } from './errors';
import { newId } from '../platform/ids';
import { closeSoon, limitEarlyAnswers, limitBodyTime, OpenRequests } from './connections';
import type { GatewayState } from './context';
import { OpenConnections, withinOpenFiles } from './open-connections';

/**
 * How many connections at most, and time-outs in milliseconds: to receive the headers, to receive the whole request (`bodyStart`: one with
 * a short body), between requests of a connection, from a request's headers until its response has been read, from an answer that ends a
 * connection until it is closed, for the place of a request that did not wait for earlier ones, from the request that is one too many of these
 * until its answer, and for requests in flight when the server closes.
 */
const defaultLimits = {
  headers: 10_000,
  request: 30_000,
  bodyStart: 5_000,
  keepAlive: 65_000,
  exchange: 90_000,
  linger: 2_000,
  place: 100,
  refusal: 1_000,
  drain: 25_000,
  checkEvery: 2_000,
  /** As far as there are file descriptors for them; the limit of requests is far lower (MAX_REQUESTS_IN_FLIGHT). */
  connections: 20_000,
};
const maxHeaderBytes = 16 * 1024;

export interface RunningServer {
  port: number;
  /** Stops accepting connections, waits up to 25 s for requests in flight, then closes the remaining connections. */
  close(): Promise<void>;
}

export async function listen(
  app: Koa<GatewayState>,
  host: string,
  port: number,
  given: Partial<typeof defaultLimits> = {},
): Promise<RunningServer> {
  const limits = { ...defaultLimits, ...given };
  const handle = app.callback();
  const connections = new OpenConnections(withinOpenFiles(limits.connections));
  const open = new OpenRequests(limits, connections);
  let closing = false;
  const server = createServer({
    headersTimeout: limits.headers,
    requestTimeout: limits.request,
    keepAliveTimeout: limits.keepAlive,
    connectionsCheckingInterval: limits.checkEvery,
    maxHeaderSize: maxHeaderBytes,
    // answered by the app, with a problem document
    requireHostHeader: false,
  });
  server.on('connection', (socket: Socket) => {
    connections.add(socket);
    open.delayClose(socket);
    socket.once('close', () => open.forget(socket));
  });
  /** In the order of the requests of a connection: a refusal that came earlier would be read as the answer to an earlier request. */
  const endWith = (socket: Socket, status: number) => open.afterEarlier(socket, () => refuse(socket, status, limits.linger));
  const take = (request: IncomingMessage, response: ServerResponse, work: () => void): void => {
    const place = open.begin(request, response);
    if (place === 'beyond') return;
    if (place === 'last') {
      // at once, its client could come back at once
      const timer = setTimeout(() => answer(response, 429), limits.refusal);
      return void response.once('close', () => clearTimeout(timer));
    }
    if (closing) response.setHeader('Connection', 'close');
    // Node itself has no time-out for clients that do not read the response
    const timer = setTimeout(() => response.destroy(), limits.exchange);
    response.once('close', () => clearTimeout(timer));
    limitBodyTime(request, limits, () => endWith(request.socket, 408));
    if (!request.complete) limitEarlyAnswers(request, response, limits);
    open.inTurn(request, response, work);
  };
  server.on('request', (request, response) => take(request, response, () => void handle(request, response)));
  // RFC 9110, section 10.1.1: an expectation other than 100-continue
  server.on('checkExpectation', (request, response) => take(request, response, () => answer(response, 417)));
  answerBrokenRequests(server, endWith);
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      closing = true;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      const timer = setTimeout(() => server.closeAllConnections(), limits.drain);
      await closed;
      clearTimeout(timer);
    },
  };
}

/** Requests that cannot be parsed (no HTTP, headers too large or too slow) also get a problem document. */
function answerBrokenRequests(server: Server, endWith: (socket: Socket, status: number) => void): void {
  const toStatus: Record<string, number> = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 };
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    endWith(socket as Socket, toStatus[error.code ?? ''] ?? 400);
  });
}

/** Answers a request instead of the app, and ends its connection. */
function answer(response: ServerResponse, status: number): void {
  const { headers, body } = toRefusal(status);
  response.writeHead(status, headers).end(body);
}

/** Answers on a connection whose last request cannot be read, and ends it. */
function refuse(socket: Socket, status: number, lingerMs: number): void {
  if (!socket.writable) return;
  const { headers, body } = toRefusal(status);
  const head = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...Object.entries(headers).map((header) => header.join(': '))];
  closeSoon(socket, lingerMs);
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

function toRefusal(status: number): { headers: Record<string, string>; body: string } {
  const requestId = newId();
  const detail = refusals[status] ?? 'The request could not be read';
  const code = status === 429 ? 'rate_limited' : 'invalid_parameter';
  const body = JSON.stringify({
    type: problemType(code),
    title: STATUS_CODES[status],
    status,
    detail,
    // the path is not known
    instance: '/',
    code,
    request_id: requestId,
    ...(code === 'invalid_parameter' && { errors: [{ field: 'request', message: detail }] }),
  });
  return {
    headers: {
      'X-Request-Id': requestId,
      'X-Content-Type-Options': 'nosniff',
      'Cache-Control': 'no-store',
      'Content-Type': 'application/problem+json',
      'Content-Length': String(Buffer.byteLength(body)),
      ...(status === 429 && { 'Retry-After': '1' }),
      Connection: 'close',
    },
    body,
  };
}

const refusals: Record<number, string> = {
  408: 'The request took too long to arrive',
  417: 'The only expectation that is known is 100-continue',
  429: 'Too many requests were sent on this connection without waiting for their answers',
};
