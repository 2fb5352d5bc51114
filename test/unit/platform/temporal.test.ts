import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createSecureServer, type Http2SecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { nodeCredentials, type NodeCredentials } from '../../../dev/credentials';
import { ConfigError } from '../../../src/platform/config';
import { withinMs } from '../../../src/platform/temporal';
import { createTemporalClient, readTemporalOptions } from '../../../src/platform/temporal-client';
import { connectWorkers } from '../../../src/processes/temporal-worker';

/** A frontend that answers every call with an empty message, behind TLS; keeps what authorised the calls. */
let server: Http2SecureServer;
let folder: string;
let own: NodeCredentials;
let foreign: NodeCredentials;
let seen: (string | undefined)[] = [];

async function startServer({ cert, key, ca }: NodeCredentials, wantsCertificate: boolean): Promise<number> {
  const [own, authority] = [{ cert: readFileSync(cert), key: readFileSync(key) }, readFileSync(ca)];
  server = createSecureServer({ ...own, ca: authority, requestCert: wantsCertificate, rejectUnauthorized: wantsCertificate });
  server.on('stream', (stream, headers) => {
    seen.push(headers.authorization);
    stream.on('error', () => undefined);
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    // a gRPC frame without content
    stream.end(Buffer.alloc(5));
  });
  server.on('sessionError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'temporal-tls-'));
  own = (await nodeCredentials(path.join(folder, 'own')))[2];
  foreign = (await nodeCredentials(path.join(folder, 'foreign')))[2];
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));
beforeEach(() => void (seen = []));
afterEach(() => new Promise((resolve) => server.close(resolve)));

const serverOf = async () => (await nodeCredentials(path.join(folder, 'own')))[1];
const variables = (port: number, { cert, key }: Partial<NodeCredentials>, more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv => ({
  TEMPORAL_ADDRESS: `127.0.0.1:${port}`,
  TEMPORAL_TLS_SERVER_CA_CERT_PATH: own.ca,
  TEMPORAL_TLS_SERVER_NAME: 'localhost',
  ...(cert !== undefined && { TEMPORAL_TLS_CLIENT_CERT_PATH: cert, TEMPORAL_TLS_CLIENT_KEY_PATH: key }),
  ...more,
});

/** As the API and the command line call it. */
async function callAsClient(env: NodeJS.ProcessEnv): Promise<void> {
  const client = createTemporalClient(env);
  try {
    await withinMs(client, 5_000, () => client.connection.workflowService.getSystemInfo({}));
  } finally {
    await client.connection.close();
  }
}
/** As worker and signing nodes connect. */
const callAsWorker = async (env: NodeJS.ProcessEnv) => (await connectWorkers(env)).close();

describe.each([
  ['a client', callAsClient],
  ['a worker', callAsWorker],
])('%s', (_who, call) => {
  test('is accepted with its certificate by a server that requires one', async () => {
    const port = await startServer(await serverOf(), true);
    await call(variables(port, own));
    expect(seen.length).toBeGreaterThan(0);
  });

  test('is refused without a certificate, and with one of another authority', async () => {
    const port = await startServer(await serverOf(), true);
    await expect(call(variables(port, {}))).rejects.toThrow();
    await expect(call(variables(port, foreign))).rejects.toThrow();
    expect(seen).toEqual([]);
  });

  test('does not call a server whose certificate is of another authority', async () => {
    const port = await startServer(await serverOf(), true);
    await expect(call(variables(port, own, { TEMPORAL_TLS_SERVER_CA_CERT_PATH: foreign.ca }))).rejects.toThrow();
    expect(seen).toEqual([]);
  });

  test('sends its API key, also one from a file, over TLS', async () => {
    const port = await startServer(await serverOf(), false);
    const file = path.join(folder, 'api-key');
    writeFileSync(file, 'key-of-a-file\n');
    await call(variables(port, {}, { TEMPORAL_API_KEY: 'key-of-the-environment' }));
    expect(new Set(seen)).toEqual(new Set(['Bearer key-of-the-environment']));
    seen = [];
    await call(variables(port, {}, { TEMPORAL_API_KEY_FILE: file }));
    expect(new Set(seen)).toEqual(new Set(['Bearer key-of-a-file']));
  });
});

test('a key file that cannot be read is named', async () => {
  await startServer(await serverOf(), false);
  const read = () => readTemporalOptions({ TEMPORAL_API_KEY_FILE: '/does/not/exist' });
  expect(read).toThrow(ConfigError);
  expect(read).toThrow(/^TEMPORAL_API_KEY_FILE cannot be read/);
});
