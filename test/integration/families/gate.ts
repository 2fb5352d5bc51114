import { connect, createServer, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';

/** A way to a node that a test can close: then its connections end, and further ones are refused. */
export class Gate {
  private readonly sockets = new Set<Socket>();
  private isOpen = true;
  private readonly server = createServer((client) => this.serve(client));
  private target = new URL('http://127.0.0.1');

  /** Returns the url of the node behind the gate. */
  async before(url: string): Promise<string> {
    this.target = new URL(url);
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    const shown = new URL(url);
    shown.port = String((this.server.address() as AddressInfo).port);
    return shown.toString();
  }

  close(): void {
    this.isOpen = false;
    for (const socket of this.sockets) socket.destroy();
  }

  open(): void {
    this.isOpen = true;
  }

  async remove(): Promise<void> {
    this.close();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private serve(client: Socket): void {
    if (!this.isOpen) return void client.destroy();
    const node = connect({ host: this.target.hostname, port: Number(this.target.port) });
    for (const [socket, other] of [
      [client, node],
      [node, client],
    ] as const) {
      this.sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  }
}
