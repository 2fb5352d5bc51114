import { EventEmitter } from 'node:events';
import type { Server } from 'node:tls';
import pino from 'pino';
import { Connections } from '../../../src/mpc/connections';
import type { Identity } from '../../../src/mpc/identity';

/** How many TLS handshakes one network may have at the same time. */

const server = new EventEmitter();
new Connections(server as Server, {} as Identity, pino({ level: 'silent' }));

class Remote extends EventEmitter {
  isDestroyed = false;
  constructor(
    readonly remoteAddress: string,
    readonly remotePort: number,
  ) {
    super();
  }
  destroy(): void {
    this.isDestroyed = true;
    this.emit('close');
  }
}

const connect = (address: string, port = 5_000): Remote => {
  const socket = new Remote(address, port);
  server.emit('connection', socket);
  return socket;
};

test.each<[string, (at: number) => [string, number], string]>([
  ['the addresses of one IPv6 network', (at: number) => [`2001:db8:1:2::${(at + 1).toString(16)}`, 5_000], '2001:db8:1:3::1'],
  ['one IPv4 address', (at: number) => ['192.0.2.1', 5_000 + at], '192.0.2.2'],
  ['an IPv4 address that is written as IPv6', (at: number) => ['::ffff:198.51.100.1', 5_000 + at], '::ffff:198.51.100.2'],
])('%s are counted together, and others are not refused with them', (_, source, other) => {
  const opened = Array.from({ length: 128 }, (_it, at) => connect(...source(at)));
  expect(opened.some(({ isDestroyed }) => isDestroyed)).toBe(false);
  expect(connect(...source(128)).isDestroyed).toBe(true);
  const others = connect(other);
  expect(others.isDestroyed).toBe(false);
  // what has ended makes room again
  opened[0]?.destroy();
  const next = connect(...source(129));
  expect(next.isDestroyed).toBe(false);
  for (const socket of [...opened, others, next]) socket.destroy();
});
