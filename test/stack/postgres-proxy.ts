import { createServer, connect, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { CommitWatch } from './unanswered-commits';

/** What happens to a COMMIT: it is carried out and its answer lost, or it never arrives. */
export type CommitFault = 'answer lost' | 'never arrives';

interface Cut {
  fault: CommitFault;
  /** Everything is cut and refused for so long; 0: this connection alone is cut. */
  awayMs: number;
}

/** The text of a NOTICE by which the database itself has the transaction cut that raises it, when that transaction ends. */
export const cutNotice = ({ fault, awayMs }: Cut): string => `cut this connection: ${fault}, away for ${awayMs} ms`;

const notice = /cut this connection: (answer lost|never arrives), away for (\d+) ms/;
/** ReadyForQuery, outside a transaction: what was open is committed or rolled back. */
const transactionEnded = Buffer.from('Z\0\0\0\x05I', 'latin1');

/** A proxy between clients and Postgres, which cuts the connection during COMMIT when a test wants that. */
export class PostgresProxy {
  /** Of the next COMMIT alone. */
  fault: CommitFault | undefined;
  /** After that cut, how long all connections are cut and refused. */
  awayMs = 0;
  private awayUntil = 0;
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    readonly url: string,
    private readonly dataDir: string | undefined,
  ) {}

  /** With a data folder, COMMITs that remain unanswered are recorded there. */
  static async start(target: string, dataDir?: string): Promise<PostgresProxy> {
    const to = new URL(target);
    const server = createServer({ noDelay: true });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = new URL(target);
    url.hostname = '127.0.0.1';
    url.port = String((server.address() as AddressInfo).port);
    const proxy = new PostgresProxy(server, url.toString(), dataDir);
    server.on('connection', (client) => proxy.serve(client, to));
    return proxy;
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private serve(client: Socket, { hostname, port }: URL): void {
    if (Date.now() < this.awayUntil) return void client.destroy();
    const database = connect({ port: Number(port || 5432), host: hostname, noDelay: true });
    const watch = this.dataDir === undefined ? undefined : new CommitWatch(this.dataDir);
    for (const socket of [client, database]) {
      this.sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.sockets.delete(socket);
        client.destroy();
        database.destroy();
        watch?.ended();
      });
    }
    let cut: Cut | undefined;
    client.on('data', (data) => {
      const isCommit = data.includes('COMMIT\0');
      watch?.sent(data, isCommit);
      if (isCommit) {
        cut ??= this.takeFault();
        if (cut?.fault === 'never arrives') return this.carryOut(cut, client);
      }
      database.write(data);
    });
    database.on('data', (data) => {
      cut ??= findNotice(data);
      const isEnded = data.includes(transactionEnded);
      if (cut?.fault === 'answer lost' && isEnded) return this.carryOut(cut, client);
      if (isEnded) watch?.answered();
      client.write(data);
    });
  }

  private takeFault(): Cut | undefined {
    const { fault, awayMs } = this;
    this.fault = undefined;
    return fault && { fault, awayMs };
  }

  private carryOut({ awayMs }: Cut, client: Socket): void {
    this.awayUntil = Date.now() + awayMs;
    for (const socket of awayMs > 0 ? this.sockets : [client]) socket.destroy();
  }
}

function findNotice(data: Buffer): Cut | undefined {
  const [, fault, awayMs] = notice.exec(data.toString('latin1')) ?? [];
  return fault === undefined ? undefined : { fault: fault as CommitFault, awayMs: Number(awayMs) };
}
