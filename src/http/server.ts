import { createServer, type Server, STATUS_CODES } from 'node:http';
import type { AddressInfo } from 'node:net';
import type Koa from 'koa';
import { problemType } from './errors';
import { newId } from '../platform/ids';
import type { GatewayState } from './context';

/**
 * Time-outs in milliseconds: to receive the headers, to receive the whole request, between requests of a connection, from a request's
 * headers until its response has been read, and for requests in flight when the server closes.
 */
const defaultTimeouts = {
  headers: 10_000,
  request: 30_000,
  keepAlive: 65_000,
  exchange: 90_000,
  drain: 25_000,
  checkEvery: 2_000,
};
const maxHeaderBytes = 16 * 1024;
/** Further connections are closed without a response; the limit of requests is far lower (MAX_REQUESTS_IN_FLIGHT). */
const maxConnections = 20_000;

export interface RunningServer {
  port: number;
  /** Stops accepting connections, waits up to 25 s for requests in flight, then closes the remaining connections. */
  close(): Promise<void>;
}

export async function listen(
  app: Koa<GatewayState>,
  host: string,
  port: number,
  timeouts: Partial<typeof defaultTimeouts> = {},
): Promise<RunningServer> {
  const limits = { ...defaultTimeouts, ...timeouts };
  const handle = app.callback();
  let closing = false;
  const server = createServer(
    {
      headersTimeout: limits.headers,
      requestTimeout: limits.request,
      keepAliveTimeout: limits.keepAlive,
      connectionsCheckingInterval: limits.checkEvery,
      maxHeaderSize: maxHeaderBytes,
    },
    (request, response) => {
      if (closing) response.setHeader('Connection', 'close');
      // Node itself has no time-out for clients that do not read the response
      const timer = setTimeout(() => response.destroy(), limits.exchange);
      response.once('close', () => clearTimeout(timer));
      void handle(request, response);
    },
  );
  server.maxConnections = maxConnections;
  answerBrokenRequests(server);
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
function answerBrokenRequests(server: Server): void {
  const toStatus: Record<string, number> = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 };
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    const status = toStatus[error.code ?? ''] ?? 400;
    const title = STATUS_CODES[status] ?? 'Bad Request';
    const requestId = newId();
    const detail = 'The request could not be read';
    const body = JSON.stringify({
      type: problemType('invalid_parameter'),
      title,
      status,
      detail,
      // the path is not known
      instance: '/',
      code: 'invalid_parameter',
      request_id: requestId,
      errors: [{ field: 'request', message: detail }],
    });
    const head = [
      `HTTP/1.1 ${status} ${title}`,
      `X-Request-Id: ${requestId}`,
      'X-Content-Type-Options: nosniff',
      'Cache-Control: no-store',
      'Content-Type: application/problem+json',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Connection: close',
    ];
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  });
}
