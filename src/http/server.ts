import { createServer, type Server, STATUS_CODES } from 'node:http';
import type { AddressInfo } from 'node:net';
import type Koa from 'koa';
import { problemType } from './errors';
import { newId } from '../platform/ids';
import type { GatewayState } from './context';

/** Limits on slow or silent clients. */
const timeoutsMs = { headers: 10_000, request: 30_000, keepAlive: 65_000, checkEvery: 2_000, drain: 25_000 } as const;
const maxHeaderBytes = 16 * 1024;

export interface RunningServer {
  port: number;
  /** Stops accepting, lets what is in flight finish (25 s at most), then closes what is left. */
  close(): Promise<void>;
}

export async function listen(app: Koa<GatewayState>, host: string, port: number): Promise<RunningServer> {
  const handle = app.callback();
  let closing = false;
  const server = createServer(
    {
      headersTimeout: timeoutsMs.headers,
      requestTimeout: timeoutsMs.request,
      keepAliveTimeout: timeoutsMs.keepAlive,
      connectionsCheckingInterval: timeoutsMs.checkEvery,
      maxHeaderSize: maxHeaderBytes,
    },
    (request, response) => {
      if (closing) response.setHeader('Connection', 'close');
      void handle(request, response);
    },
  );
  answerBrokenRequests(server);
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      closing = true;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      const timer = setTimeout(() => server.closeAllConnections(), timeoutsMs.drain);
      await closed;
      clearTimeout(timer);
    },
  };
}

/** Requests that never become one (no HTTP, headers too large or too slow) get a problem document like all others. */
function answerBrokenRequests(server: Server): void {
  const statusOf: Record<string, number> = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 };
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    const status = statusOf[error.code ?? ''] ?? 400;
    const title = STATUS_CODES[status] ?? 'Bad Request';
    const requestId = newId();
    const detail = 'The request could not be read';
    const body = JSON.stringify({
      type: problemType('invalid_parameter'),
      title,
      status,
      detail,
      // what it asked for is not known
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
