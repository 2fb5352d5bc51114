import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** In front of a server that a test wants to become silent: connections stay, and nothing comes through any more. */
export class SilentProxy {
  private readonly sockets = new Set<Socket>();

  private constructor(private readonly server: Server) {}

  /** @param target host and port */
  static async start(target: string): Promise<SilentProxy> {
    const { hostname: host, port } = new URL(`tcp://${target}`);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const proxy = new SilentProxy(server);
    server.on('connection', (client) => proxy.serve(client, connect({ host, port: Number(port) })));
    return proxy;
  }

  get address(): string {
    return `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  silence(): void {
    for (const socket of this.sockets) socket.unpipe().pause();
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private serve(client: Socket, server: Socket): void {
    for (const socket of [client, server]) {
      this.sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.sockets.delete(socket);
        client.destroy();
        server.destroy();
      });
    }
    client.pipe(server);
    server.pipe(client);
  }
}
