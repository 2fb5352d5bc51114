import { constants } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { GatewayError } from '../platform/errors';
import type { Logger } from '../platform/logging';
import { printable } from '../platform/printable';
import { below, readTraceParent } from '../platform/tracing/tracing';
import { Connections } from './connections';
import type { Identity } from './identity';
import type { NodeIndex } from '../messages/nodes';
import type { PeerArchive } from './peer-copies';
import { encodeAnswer, type ProposalAnswer } from './session-params';

/** Largest accepted body, in bytes; the largest one sent, in a round of key generation, has 148 KB. */
const maxBodyBytes = 512 * 1024;
/** In total; peers and the addresses that they connect from have limits of their own (src/mpc/connections.ts). */
const maxConnections = 1_024;
const handlePath = '/sessions/([0-9a-f]{64})';

/** Requests that peers may send; `from` comes from the TLS certificate. */
export interface PeerService {
  onProposal(from: NodeIndex, body: Buffer): Promise<ProposalAnswer>;
  onRoster(from: NodeIndex, handle: string, body: Buffer): void;
  onMessage(from: NodeIndex, handle: string, round: number, body: Buffer, signature: Buffer): void;
  onAbort(from: NodeIndex, handle: string, reason: string): void;
}

export interface TransportServerOptions {
  identity: Identity;
  host: string;
  port: number;
  service: PeerService;
  archive: PeerArchive;
  logger: Logger;
}

type Route = [
  method: string,
  pattern: RegExp,
  handle: (
    from: NodeIndex,
    match: RegExpExecArray,
    body: Buffer,
    request: IncomingMessage,
  ) => Promise<Buffer | void> | Buffer | void,
];

/**
 * Serves peers over TLS 1.3. A client certificate of the group's authority is required, and only the two pinned ones are accepted.
 * Session tickets are disabled, so that the client presents its certificate on every connection.
 */
export class TransportServer {
  private readonly server: Server;
  private readonly connections: Connections;
  /** All of them, also those whose handshake has not ended. */
  private readonly sockets = new Set<Socket>();

  constructor(private readonly options: TransportServerOptions) {
    const { identity } = options;
    this.server = createServer({
      key: identity.files.key,
      cert: identity.files.cert,
      ca: identity.files.ca,
      requestCert: true,
      rejectUnauthorized: true,
      minVersion: 'TLSv1.3',
      secureOptions: constants.SSL_OP_NO_TICKET,
      handshakeTimeout: 3_000,
      headersTimeout: 5_000,
      requestTimeout: 10_000,
      keepAliveTimeout: 60_000,
      maxHeaderSize: 8 * 1024,
    });
    this.server.maxConnections = maxConnections;
    this.connections = new Connections(this.server, identity, options.logger);
    this.server.on('connection', (socket: Socket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
    this.server.on('request', (request, response) => void this.handle(request, response));
    this.server.on('tlsClientError', (error) => options.logger.warn({ reason: error.message }, 'refused a connection'));
  }

  /** @throws Error when the port is in use. */
  async listen(): Promise<AddressInfo> {
    const { host, port } = this.options;
    await new Promise<void>((resolve, reject) => {
      this.server.once('error', reject).listen(port, host, resolve);
    });
    return this.server.address() as AddressInfo;
  }

  /** `closeAllConnections` leaves those in a handshake, which a peer that has nothing more to say keeps open for half a minute then. */
  async close(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.server.close(() => resolve());
      for (const socket of this.sockets) socket.destroy();
    });
  }

  private readonly routes: Route[] = [
    ['GET', /^\/ping$/, () => undefined],
    [
      'POST',
      /^\/sessions$/,
      async (from, _match, body, { headers }) =>
        encodeAnswer(await below(readTraceParent(headers.traceparent), () => this.options.service.onProposal(from, body))),
    ],
    ['GET', /^\/journal\/(\d{1,16})$/, (from, [, after]) => this.options.archive.copiesFor(from, Number(after))],
    ['POST', /^\/bans$/, (from, _match, body) => this.options.archive.onBan(from, body)],
    [
      'POST',
      new RegExp(`^${handlePath}/roster$`),
      (from, [, handle = ''], body) => this.options.service.onRoster(from, handle, body),
    ],
    [
      'POST',
      new RegExp(`^${handlePath}/messages/([1-9][0-9]?)$`),
      (from, [, handle = '', round], body, request) =>
        this.options.service.onMessage(from, handle, Number(round), body, readSignature(request)),
    ],
    // the reason is a code and appears in log lines only
    [
      'POST',
      new RegExp(`^${handlePath}/abort$`),
      (from, [, handle = ''], body) => this.options.service.onAbort(from, handle, printable(body.toString('utf8'), 60)),
    ],
  ];

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const from = this.connections.findParty(request.socket);
    if (from === undefined) {
      request.socket.destroy();
      return;
    }
    try {
      const body = await this.dispatch(from, request);
      response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(body);
    } catch (error) {
      this.refuse(error, from, request, response);
    }
  }

  private async dispatch(from: NodeIndex, request: IncomingMessage): Promise<Buffer | void> {
    const path = request.url ?? '';
    for (const [method, pattern, handle] of this.routes) {
      const match = method === request.method ? pattern.exec(path) : null;
      if (match) return handle(from, match, await readBody(request), request);
    }
    throw new GatewayError('not_found', 'no such path');
  }

  private refuse(error: unknown, from: NodeIndex, request: IncomingMessage, response: ServerResponse): void {
    const { logger } = this.options;
    const known = error instanceof GatewayError ? error : new GatewayError('internal_error', 'unexpected error');
    if (known === error) logger.warn({ from, code: known.code, reason: known.message }, 'refused a request of a peer');
    else logger.error({ err: error, from }, 'unexpected error in a request of a peer');
    if (response.destroyed) return;
    const isUnread = !request.complete;
    response.writeHead(known.status, { 'content-type': 'application/json', ...(isUnread ? { connection: 'close' } : {}) });
    response.end(JSON.stringify({ code: known.code, message: known.message }));
  }
}

/** Stops reading at the limit. @throws GatewayError payload_too_large. */
async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBodyBytes) throw new GatewayError('payload_too_large', `a body may have at most ${maxBodyBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

function readSignature(request: IncomingMessage): Buffer {
  const text = request.headers['x-mpc-signature'];
  if (typeof text !== 'string' || !/^[A-Za-z0-9+/]{86}==$/.test(text))
    throw new GatewayError('invalid_parameter', 'a round message needs a signature');
  return Buffer.from(text, 'base64');
}
