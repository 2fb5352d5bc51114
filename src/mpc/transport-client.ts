import type { IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { GatewayError } from '../platform/errors';
import type { Identity } from './identity';
import { isParty, type Party } from './protocols';
import { isRefusal } from './refusals';
import type { PeerLink } from './session-manager';
import { encodeProposal, encodeRoster, type Proposal, type Roster } from './session-params';
import { printable } from './transport-server';

/** A node that is down must cost a signature less than this before another pair is tried. */
const connectMs = 1_000;
/** Judging takes milliseconds and one read of the peer's database; a peer that hangs must not cost much more than one that is down. */
const proposeMs = 2_000;
const messageMs = 5_000;
const shortMs = 1_000;
const maxAnswerBytes = 16 * 1024;
const maxSockets = 64;
/** Below the server's 60 s, so that a connection is dropped by the side that knows it is idle. */
const idleMs = 30_000;

interface Call {
  method: 'GET' | 'POST';
  path: string;
  body?: Uint8Array;
  headers?: Record<string, string>;
  timeoutMs: number;
}

/** Parses MPC_NODE_PEERS, which the configuration has checked: 2=https://host:port,3=https://host:port. */
export function parsePeers(text: string): Map<Party, URL> {
  const peers = new Map<Party, URL>();
  for (const entry of text.split(',')) {
    const party = Number(entry.slice(0, 1));
    if (isParty(party)) peers.set(party, new URL(entry.slice(2)));
  }
  return peers;
}

/** Calls to the two other nodes over mutual TLS, on connections that stay open; each peer is pinned to its certificate. */
export class TransportClient implements PeerLink {
  private readonly agents = new Map<Party, Agent>();

  constructor(
    identity: Identity,
    private readonly peers: ReadonlyMap<Party, URL>,
  ) {
    for (const party of identity.others) {
      const agent = new Agent({
        keepAlive: true,
        maxSockets,
        maxFreeSockets: 16,
        timeout: idleMs,
        // no resumption: every connection shows the peer's certificate
        maxCachedSessions: 0,
        key: identity.files.key,
        cert: identity.files.cert,
        ca: identity.files.ca,
        minVersion: 'TLSv1.3',
        // the pin says more than a host name: exactly this certificate, for exactly this party
        checkServerIdentity: (_host, { fingerprint256 }) =>
          identity.partyOf(fingerprint256) === party ? undefined : new Error(`not the certificate of node ${party}`),
      });
      this.agents.set(party, agent);
    }
  }

  async propose(to: Party, proposal: Proposal): Promise<Buffer> {
    const randomness = await this.call(to, {
      method: 'POST',
      path: '/sessions',
      body: encodeProposal(proposal),
      timeoutMs: proposeMs,
    });
    if (randomness.length !== 32) throw unavailable(`node ${to} answered a proposal with ${randomness.length} bytes`);
    return randomness;
  }

  async roster(to: Party, handle: string, roster: Roster): Promise<void> {
    await this.call(to, { method: 'POST', path: `/sessions/${handle}/roster`, body: encodeRoster(roster), timeoutMs: messageMs });
  }

  async message(to: Party, handle: string, round: number, body: Uint8Array, signature: Buffer): Promise<void> {
    const headers = { 'x-mpc-signature': signature.toString('base64') };
    await this.call(to, { method: 'POST', path: `/sessions/${handle}/messages/${round}`, body, headers, timeoutMs: messageMs });
  }

  async abort(to: Party, handle: string, reason: string): Promise<void> {
    await this.call(to, { method: 'POST', path: `/sessions/${handle}/abort`, body: Buffer.from(reason), timeoutMs: shortMs });
  }

  /** Whether the peer answers and shows its certificate. */
  async reaches(to: Party): Promise<boolean> {
    return this.call(to, { method: 'GET', path: '/ping', timeoutMs: shortMs }).then(
      () => true,
      () => false,
    );
  }

  close(): void {
    for (const agent of this.agents.values()) agent.destroy();
  }

  /** @throws GatewayError intent_mismatch or address_blacklisted when that is what the peer says, else signers_unavailable. */
  private async call(to: Party, call: Call): Promise<Buffer> {
    const { status, body } = await this.send(to, call, true);
    if (status === 200) return body;
    const { code, message } = refusalIn(body);
    const text = `node ${to} refused: ${message}`;
    throw isRefusal(code) ? new GatewayError(code, text) : unavailable(text);
  }

  private async send(to: Party, call: Call, mayRepeat: boolean): Promise<{ status: number; body: Buffer }> {
    const { method, path, body, headers, timeoutMs } = call;
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
        request.on('response', (response) => void readAnswer(response).then(resolve, reject));
        request.end(body);
      });
    } catch (error) {
      const { code, name } = error as NodeJS.ErrnoException;
      // the peer closed an idle connection at the moment it was used again: it has read nothing of this request
      if (mayRepeat && request.reusedSocket && code === 'ECONNRESET') return this.send(to, call, false);
      throw unavailable(
        `node ${to} is not reachable (${code === 'ABORT_ERR' || name === 'AbortError' ? 'timeout' : (code ?? (error as Error).message)})`,
      );
    } finally {
      request.destroy();
    }
  }
}

/** TCP and TLS handshake within a second; sockets that are connected already are not touched. */
function limitConnecting(socket: TLSSocket): void {
  if (!socket.connecting && socket.authorized) return;
  const timer = setTimeout(() => socket.destroy(Object.assign(new Error('connect timeout'), { code: 'ETIMEDOUT' })), connectMs);
  socket.once('secureConnect', () => clearTimeout(timer)).once('close', () => clearTimeout(timer));
}

async function readAnswer(response: IncomingMessage): Promise<{ status: number; body: Buffer }> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxAnswerBytes) throw new Error('the answer is too long');
    chunks.push(chunk);
  }
  return { status: response.statusCode ?? 0, body: Buffer.concat(chunks, size) };
}

/** What a peer says about itself is shown, but not trusted to be short or clean. */
function refusalIn(body: Buffer): { code: string; message: string } {
  try {
    const { code, message } = JSON.parse(body.toString('utf8')) as { code?: unknown; message?: unknown };
    return { code: typeof code === 'string' ? code : '', message: printable(typeof message === 'string' ? message : '', 200) };
  } catch {
    return { code: '', message: 'no reason given' };
  }
}

const unavailable = (message: string): GatewayError => new GatewayError('signers_unavailable', message);
