import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';

/** File descriptors that are left for databases, chains, and whatever else the process opens. */
const otherFiles = 256;

/**
 * How many of these connections the process may have open, by its limit of file descriptors (`ulimit -n`). Beyond that limit the operating
 * system hands over no connection at all, whoever asks for one.
 */
export function withinOpenFiles(connections: number, limits = readFileSync('/proc/self/limits', 'utf8')): number {
  const [, soft = ''] = /^Max open files\s+(\d+)/m.exec(limits) ?? [];
  return soft === '' ? connections : Math.max(1, Math.min(connections, Number(soft) - otherFiles));
}

/**
 * Bounds the connections without keeping anybody out: a new one takes the place of the one that has been without a request for longest. Not by
 * address: behind a proxy all clients have the same.
 */
export class OpenConnections {
  private readonly open = new Set<Socket>();
  /** Those without a request, longest first. */
  private readonly silent = new Set<Socket>();

  constructor(private readonly most: number) {}

  add(socket: Socket): void {
    if (this.open.size >= this.most) this.closeOldest(socket);
    if (socket.destroyed) return;
    this.open.add(socket);
    this.silent.add(socket);
    socket.once('close', () => {
      this.open.delete(socket);
      this.silent.delete(socket);
    });
  }

  /** A request has arrived, with all of its headers. */
  use(socket: Socket): void {
    this.silent.delete(socket);
  }

  /** All requests are answered. */
  release(socket: Socket): void {
    if (this.open.has(socket)) this.silent.add(socket);
  }

  /** The new one, where all others have requests. */
  private closeOldest(added: Socket): void {
    const [oldest = added] = this.silent;
    this.open.delete(oldest);
    this.silent.delete(oldest);
    oldest.destroy();
  }
}
