import type { Socket } from 'node:net';
import type { Server, TLSSocket } from 'node:tls';
import { network } from '../platform/network';
import type { NodeIndex } from '../messages/nodes';
import type { Logger } from '../platform/logging';
import type { Identity } from './identity';

/** Twice the sockets of a peer's client (src/mpc/transport-client.ts): those of its process before a restart may still be open. */
const maxPerPeer = 128;
/** Connections from one address, or one IPv6 network of /64, that have shown no certificate yet: a client may open all its sockets at once. */
const maxHandshakesPerNetwork = 128;

/**
 * Which node is at the other end of each connection of a server, and how many each may have: connections of one peer, or from one
 * strange address or IPv6 /64, do not keep out those of the other peer. Against many addresses only the network helps: nothing but the peers should
 * reach the port.
 */
export class Connections {
  private readonly parties = new WeakMap<Socket, NodeIndex>();
  private readonly perPeer = new Map<NodeIndex, number>();
  /** Addresses and ports of the connections in a TLS handshake, by network. */
  private readonly handshakes = new Map<string, Set<string>>();

  constructor(
    server: Server,
    private readonly identity: Identity,
    private readonly logger: Logger,
  ) {
    server.on('connection', (socket: Socket) => this.onConnection(socket));
    server.on('secureConnection', (socket) => this.onHandshake(socket));
  }

  /** The node whose pinned certificate the connection has shown; undefined for every other one, which is being closed. */
  findParty(socket: Socket): NodeIndex | undefined {
    return this.parties.get(socket);
  }

  private onConnection(socket: Socket): void {
    const remote = getRemote(socket);
    const running = this.handshakes.get(remote.network) ?? new Set();
    if (running.size >= maxHandshakesPerNetwork) {
      this.logger.warn({ remote: remote.address }, 'refused a connection: too many handshakes from this network');
      socket.destroy();
      return;
    }
    this.handshakes.set(remote.network, running.add(remote.end));
    socket.once('close', () => this.endHandshake(remote));
  }

  private onHandshake(socket: TLSSocket): void {
    const remote = getRemote(socket);
    this.endHandshake(remote);
    const party = this.identity.findParty(socket.getPeerCertificate().fingerprint256);
    const refused =
      party === undefined ? 'a certificate that is not pinned' : this.count(party) >= maxPerPeer && 'too many connections';
    if (refused || party === undefined) {
      this.logger.warn({ remote: remote.address, ...(party && { from: party }) }, `refused a connection: ${refused}`);
      socket.destroy();
      return;
    }
    this.parties.set(socket, party);
    this.perPeer.set(party, this.count(party) + 1);
    socket.once('close', () => this.perPeer.set(party, this.count(party) - 1));
  }

  private count(party: NodeIndex): number {
    return this.perPeer.get(party) ?? 0;
  }

  private endHandshake({ network: of, end }: Remote): void {
    const running = this.handshakes.get(of);
    running?.delete(end);
    if (running?.size === 0) this.handshakes.delete(of);
  }
}

interface Remote {
  address: string;
  network: string;
  /** Address and port. */
  end: string;
}

const getRemote = ({ remoteAddress: address = '', remotePort = 0 }: Socket): Remote => ({
  address,
  network: network(address),
  end: `${address} ${remotePort}`,
});
