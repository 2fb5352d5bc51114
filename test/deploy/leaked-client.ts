import { chmodSync, chownSync, copyFileSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { run } from './commands';
import type { Containers } from './containers';

/** A connection by HTTP/2, on which the server answers only a client whose certificate it accepts; a refusal may come after the handshake. */
const connect = `
const { connect } = require('tls'), { readFileSync: read } = require('fs');
const end = (text) => { console.log(text); process.exit(0); };
const socket = connect({ host: 'temporal', port: 7233, servername: 'temporal', ALPNProtocols: ['h2'],
  ca: read('/run/secrets/temporal_ca'), cert: read('/leaked/temporal_cert'), key: read('/leaked/temporal_key') });
// not at once: what is written to a connection that has ended hides why
const greet = () => socket.write(Buffer.concat([Buffer.from('PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n'), Buffer.from('000000040000000000', 'hex')]));
socket.on('secureConnect', () => setTimeout(greet, 1000));
socket.on('data', () => end('accepted'));
socket.on('error', (error) => end('refused: ' + (error.code || error.message)));
socket.on('close', () => end('closed'));
setTimeout(() => end('silent'), 10000);
`;
const files = ['temporal_cert', 'temporal_key'];
/** Of the user in the containers. */
const user = 1000;

/** Whoever has a copy of the key and the certificate of a client of Temporal. */
export class LeakedClient {
  constructor(
    private readonly containers: Containers,
    private readonly parts: { part: string; volume: string; folder: string },
  ) {}

  /** Makes the copy. @throws Error unless Temporal accepts it */
  async isAccepted(): Promise<void> {
    mkdirSync(this.copy, { recursive: true });
    for (const name of files) {
      const file = path.join(this.copy, name);
      copyFileSync(path.join(this.parts.volume, name), file);
      chownSync(file, user, user);
      chmodSync(file, 0o400);
    }
    const outcome = await this.connect();
    if (outcome !== 'accepted') throw new Error(`Temporal has not accepted a client with its own key: ${outcome}`);
  }

  /** @throws Error unless Temporal refuses the copy by its certificate */
  async isRefused(): Promise<void> {
    const outcome = await this.connect();
    if (!/^refused: .*(UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE)/i.test(outcome))
      throw new Error(`Temporal has not refused the former key and certificate: ${outcome}`);
  }

  private get copy(): string {
    return path.join(this.parts.folder, 'leaked');
  }

  private async connect(): Promise<string> {
    const { part, folder } = this.parts;
    const binds = [`${this.copy}:/leaked:ro`];
    const command = await this.containers.commandLine(part, { entrypoint: ['node'], words: ['-e', connect], binds });
    const logFile = path.join(folder, 'logs', 'leaked-client.log');
    return (await run(command, { timeoutMs: 60_000, logFile })).trim();
  }
}
