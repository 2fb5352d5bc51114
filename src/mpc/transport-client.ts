import type { IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { GatewayError } from '../platform/errors';
import { printable } from '../platform/printable';
import { getTracer } from '../platform/tracing/tracing';
import type { Identity } from './identity';
import type { NodeIndex } from '../messages/nodes';
import { isNodeIndex } from './protocols';
import { isRefusal } from './refusal-codes';
import type { PeerLink } from './peer-link';
import { type CopiesPage, decodeCopies, encodeStatement, maxPageBytes } from './peer-copies';
import { decodeAnswer, encodeProposal, encodeRoster, type Proposal, type ProposalAnswer, type Roster } from './session-params';
import type { SignedStatement } from './statement';

/** A node that is down must not delay a signature by more than this before another pair is tried. */
const connectMs = 1_000;
/** Verification takes milliseconds and one read of the peer's database; a hanging peer must not delay much more than one that is down. */
const proposeMs = 2_000;
const messageMs = 5_000;
const controlMs = 1_000;
/** A page of journal copies is read while nothing waits for it. */
const copiesMs = 10_000;
/** An answer to a proposal holds a journal entry. */
const maxResponseBytes = 40 * 1024;
const maxSockets = 64;
/** Less than the server's 60 s, so that the client, which knows that a connection is idle, closes it first. */
const idleMs = 30_000;

interface PeerRequest {
  method: 'GET' | 'POST';
  path: string;
  body?: Uint8Array;
  headers?: Record<string, string>;
  timeoutMs: number;
  /** Default: maxResponseBytes. */
  maxBytes?: number;
}

/** Parses MPC_NODE_PEERS, which the configuration has checked: 2=https://host:port,3=https://host:port. */
export function parsePeers(text: string): Map<NodeIndex, URL> {
  const peers = new Map<NodeIndex, URL>();
  for (const entry of text.split(',')) {
    const party = Number(entry.slice(0, 1));
    if (isNodeIndex(party)) peers.set(party, new URL(entry.slice(2)));
  }
  return peers;
}

/** Requests to the two other nodes over mutual TLS on persistent connections; each peer must present its pinned certificate. */
export class TransportClient implements PeerLink {
  private readonly agents = new Map<NodeIndex, Agent>();

  constructor(
    identity: Identity,
    private readonly peers: ReadonlyMap<NodeIndex, URL>,
  ) {
    for (const party of identity.others) {
      const agent = new Agent({
        keepAlive: true,
        maxSockets,
        maxFreeSockets: 16,
        timeout: idleMs,
        // no session resumption: the peer presents its certificate on every connection
        maxCachedSessions: 0,
        key: identity.files.key,
        cert: identity.files.cert,
        ca: identity.files.ca,
        minVersion: 'TLSv1.3',
        // the pinned certificate replaces the check of the host name
        checkServerIdentity: (_host, { fingerprint256 }) =>
          identity.findParty(fingerprint256) === party ? undefined : new Error(`not the certificate of node ${party}`),
      });
      this.agents.set(party, agent);
    }
  }

  async propose(to: NodeIndex, proposal: Proposal): Promise<ProposalAnswer> {
    const traceparent = getTracer()?.traceParent();
    const answer = await this.call(to, {
      method: 'POST',
      path: '/sessions',
      body: encodeProposal(proposal),
      // a node that does not know it ignores it
      headers: traceparent === undefined ? {} : { traceparent },
      timeoutMs: proposeMs,
    });
    return decodeAnswer(answer);
  }

  /** What the peer keeps of this node's own journal and bans, from entry `after` on. */
  async copies(to: NodeIndex, after: number): Promise<CopiesPage> {
    const page = { method: 'GET', path: `/journal/${after}`, timeoutMs: copiesMs, maxBytes: maxPageBytes } as const;
    return decodeCopies(await this.call(to, page));
  }

  async ban(to: NodeIndex, statement: SignedStatement): Promise<void> {
    await this.call(to, { method: 'POST', path: '/bans', body: encodeStatement(statement), timeoutMs: messageMs });
  }

  async roster(to: NodeIndex, handle: string, roster: Roster): Promise<void> {
    await this.call(to, { method: 'POST', path: `/sessions/${handle}/roster`, body: encodeRoster(roster), timeoutMs: messageMs });
  }

  async message(to: NodeIndex, handle: string, round: number, body: Uint8Array, signature: Buffer): Promise<void> {
    const headers = { 'x-mpc-signature': signature.toString('base64') };
    await this.call(to, { method: 'POST', path: `/sessions/${handle}/messages/${round}`, body, headers, timeoutMs: messageMs });
  }

  async abort(to: NodeIndex, handle: string, reason: string): Promise<void> {
    await this.call(to, { method: 'POST', path: `/sessions/${handle}/abort`, body: Buffer.from(reason), timeoutMs: controlMs });
  }

  /** Whether the peer responds and presents its certificate. */
  async ping(to: NodeIndex): Promise<boolean> {
    return this.call(to, { method: 'GET', path: '/ping', timeoutMs: controlMs }).then(
      () => true,
      () => false,
    );
  }

  close(): void {
    for (const agent of this.agents.values()) agent.destroy();
  }

  /** @throws GatewayError with the peer's own code if it is one of src/mpc/refusal-codes.ts, else signers_unavailable. */
  private async call(to: NodeIndex, call: PeerRequest): Promise<Buffer> {
    const { status, body } = await this.send(to, call, true);
    if (status === 200) return body;
    const { code, message } = parseRefusal(body);
    const text = `node ${to} refused: ${message}`;
    throw isRefusal(code) ? new GatewayError(code, text, { extra: { node: String(to) } }) : unavailable(text);
  }

  private async send(to: NodeIndex, call: PeerRequest, mayRetry: boolean): Promise<{ status: number; body: Buffer }> {
    const { method, path, body, headers, timeoutMs, maxBytes = maxResponseBytes } = call;
    const base = this.peers.get(to);
    if (!base) throw unavailable(`the address of node ${to} is not configured (MPC_NODE_PEERS)`);
    const request = httpsRequest({
      agent: this.agents.get(to),
      host: base.hostname,
      port: base.port,
      method,
      path,
      headers: { ...headers, 'content-length': body?.length ?? 0 },
      signal: AbortSignal.timeout(timeoutMs),
    });
    request.on('socket', (socket) => limitConnecting(socket as TLSSocket));
    try {
      return await new Promise((resolve, reject) => {
        request.on('error', reject);
        request.on('response', (response) => void readResponse(response, maxBytes).then(resolve, reject));
        request.end(body);
      });
    } catch (error) {
      const { code, name } = error as NodeJS.ErrnoException;
      // the peer closed an idle connection at the moment of its reuse: it has not read this request
      if (mayRetry && request.reusedSocket && code === 'ECONNRESET') return this.send(to, call, false);
      throw unavailable(
        `node ${to} is not reachable (${code === 'ABORT_ERR' || name === 'AbortError' ? 'timeout' : (code ?? (error as Error).message)})`,
      );
    } finally {
      request.destroy();
    }
  }
}

/** Limits TCP and TLS handshake to a second; no effect on sockets that are already connected. */
function limitConnecting(socket: TLSSocket): void {
  if (!socket.connecting && socket.authorized) return;
  const timer = setTimeout(() => socket.destroy(Object.assign(new Error('connect timeout'), { code: 'ETIMEDOUT' })), connectMs);
  socket.once('secureConnect', () => clearTimeout(timer)).once('close', () => clearTimeout(timer));
}

async function readResponse(response: IncomingMessage, maxBytes: number): Promise<{ status: number; body: Buffer }> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw new Error('the response is too long');
    chunks.push(chunk);
  }
  return { status: response.statusCode ?? 0, body: Buffer.concat(chunks, size) };
}

/** The peer's message is shown, but shortened and without control characters. */
function parseRefusal(body: Buffer): { code: string; message: string } {
  try {
    const { code, message } = JSON.parse(body.toString('utf8')) as { code?: unknown; message?: unknown };
    return { code: typeof code === 'string' ? code : '', message: printable(typeof message === 'string' ? message : '', 200) };
  } catch {
    return { code: '', message: 'no reason given' };
  }
}

const unavailable = (message: string): GatewayError => new GatewayError('signers_unavailable', message);
