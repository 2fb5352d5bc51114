import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { connect, createServer, type Server } from 'node:tls';
import { loadRegistry } from '../../../src/chains/registry';
import { type Authority, setUpFiles } from '../../../src/cli/setup/deployment-files';

/** The certificates that `gateway setup files` makes, in real handshakes of mutual TLS. */
const root = mkdtempSync(path.join(tmpdir(), 'setup-tls-'));
const servers: Server[] = [];
const read = (name: string) => readFileSync(path.join(root, name), 'utf8');

beforeAll(() => setUpFiles({ root, environment: 'sandbox', registry: loadRegistry('sandbox', ['ethereum']) }));
afterEach(() => servers.splice(0).forEach((server) => server.close()));
afterAll(() => rmSync(root, { recursive: true, force: true }));

async function serve([key, cert, ca]: readonly [string, string, string]): Promise<number> {
  const server = createServer({
    key: read(key),
    cert: read(cert),
    ca: read(ca),
    requestCert: true,
    rejectUnauthorized: true,
    minVersion: 'TLSv1.3',
  });
  servers.push(server);
  server.on('secureConnection', (socket) => socket.end(`hello ${String(socket.getPeerCertificate().subject.CN)}`));
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

interface Client {
  servername: string;
  ca: string;
  own?: readonly [string, string];
}

/** What the server answers. */
const call = (port: number, { servername, ca, own }: Client): Promise<string> =>
  new Promise((resolve, reject) => {
    const identity = own ? { key: read(own[0]), cert: read(own[1]) } : {};
    const socket = connect({ port, host: '127.0.0.1', servername, ca: read(ca), ...identity });
    let answer = '';
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
    socket.on('error', reject);
    // with TLS 1.3 a server refuses a client's certificate after the client has finished its handshake
    socket.on('end', () => (answer === '' ? reject(new Error('the server has ended the connection')) : resolve(answer)));
  });

const temporal = ['temporal/server_key', 'temporal/server_cert', 'temporal/temporal_ca'] as const;
const clientOf = (who: string) => ({
  servername: 'temporal',
  ca: `${who}/temporal_ca`,
  own: [`${who}/temporal_key`, `${who}/temporal_cert`] as const,
});

it.each(['api', 'worker', 'authoriser', 'operator', 'temporal-ui', 'mpc-node-1', 'mpc-node-2', 'mpc-node-3'])(
  'Temporal accepts %s, under its own name',
  async (who) => {
    expect(await call(await serve(temporal), clientOf(who))).toBe(`hello ${who}`);
  },
);

it('Temporal refuses whoever has no certificate, and one of a signing node for its peers', async () => {
  const port = await serve(temporal);
  await expect(call(port, { servername: 'temporal', ca: 'api/temporal_ca' })).rejects.toThrow();
  await expect(call(port, { ...clientOf('api'), own: ['mpc-node-1/tls_key', 'mpc-node-1/tls_cert'] })).rejects.toThrow();
});

it('clients refuse a server of another name', async () => {
  await expect(call(await serve(temporal), { ...clientOf('api'), servername: 'postgres' })).rejects.toThrow(/altname|Hostname/i);
});

it('services of the Temporal server know each other, and no client passes as one', async () => {
  const port = await serve(['temporal/internode_key', 'temporal/internode_cert', 'temporal/internode_ca']);
  const service = { servername: 'temporal-internode', ca: 'temporal/internode_ca' };
  expect(await call(port, { ...service, own: ['temporal/internode_key', 'temporal/internode_cert'] })).toBe(
    'hello temporal-internode',
  );
  await expect(call(port, { ...service, own: ['worker/temporal_key', 'worker/temporal_cert'] })).rejects.toThrow();
});

it('signing nodes reach each other by the names of the compose file', async () => {
  const port = await serve(['mpc-node-2/tls_key', 'mpc-node-2/tls_cert', 'mpc-node-2/tls_ca']);
  const peer = { servername: 'mpc-node-2', ca: 'mpc-node-1/tls_ca', own: ['mpc-node-1/tls_key', 'mpc-node-1/tls_cert'] as const };
  expect(await call(port, peer)).toBe('hello mpc-node-1');
  await expect(call(port, { ...peer, servername: 'mpc-node-3' })).rejects.toThrow();
});

describe('a renewed authority', () => {
  const renew = (authority: Authority) =>
    setUpFiles({ root, environment: 'sandbox', registry: loadRegistry('sandbox', ['ethereum']), renew: authority });

  it.each(['temporal', 'node'] as const)('refuses certificates of the former one: %s', async (authority) => {
    const ofTemporal = authority === 'temporal';
    const server = ofTemporal ? temporal : (['mpc-node-2/tls_key', 'mpc-node-2/tls_cert', 'mpc-node-2/tls_ca'] as const);
    const [ca, key, cert] = ofTemporal
      ? ['api/temporal_ca', 'api/temporal_key', 'api/temporal_cert']
      : ['mpc-node-1/tls_ca', 'mpc-node-1/tls_key', 'mpc-node-1/tls_cert'];
    const servername = ofTemporal ? 'temporal' : 'mpc-node-2';
    const former = path.join(root, 'former_cert');
    copyFileSync(path.join(root, cert), former);
    await renew(authority);
    const port = await serve(server);
    expect(await call(port, { servername, ca, own: [key, cert] })).toBe(`hello ${ofTemporal ? 'api' : 'mpc-node-1'}`);
    await expect(call(port, { servername, ca, own: [key, 'former_cert'] })).rejects.toThrow();
  });
});
