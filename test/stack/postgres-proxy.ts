import { createServer, connect, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';

/** What happens to the next COMMIT: it is carried out and its answer lost, or it never arrives. */
export type CommitFault = 'answer lost' | 'never arrives';

/** Stands between a client and Postgres, and cuts the connection during COMMIT when a test wants that. */
export class PostgresProxy {
  /** Of the next COMMIT alone. */
  fault: CommitFault | undefined;
  /** After a cut, how long new connections are refused. */
  awayMs = 0;
  private awayUntil = 0;
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  static async start(target: string): Promise<PostgresProxy> {
    const to = new URL(target);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = new URL(target);
    url.hostname = '127.0.0.1';
    url.port = String((server.address() as AddressInfo).port);
    const proxy = new PostgresProxy(server, url.toString());
    server.on('connection', (client) => proxy.serve(client, to));
    return proxy;
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private serve(client: Socket, { hostname, port }: URL): void {
    if (Date.now() < this.awayUntil) return void client.destroy();
    const database = connect(Number(port || 5432), hostname);
    for (const socket of [client, database]) {
      this.sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        client.destroy();
        database.destroy();
      });
    }
    client.on('data', (data) => {
      const { fault } = this;
      if (!fault || !data.includes('COMMIT\0')) return void database.write(data);
      this.fault = undefined;
      this.awayUntil = Date.now() + this.awayMs;
      if (fault === 'never arrives') return void client.destroy();
      database.removeAllListeners('data');
      database.once('data', () => client.destroy());
      database.write(data);
    });
    database.on('data', (data) => client.write(data));
  }
}
