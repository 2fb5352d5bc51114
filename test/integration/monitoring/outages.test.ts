import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { projectRoot } from '../../../dev/paths';
import { freePort } from '../../../dev/ports';
import { newKeyPair } from '../../keys';
import { waitFor } from '../../stack/client';
import { createFixture, type Fixture } from '../ledger/fixture';
import { createGroup } from '../mpc/certificates';

/** Processes that start while Postgres or Temporal is away show what is so, as far as they can see it. */

const key = () => Buffer.alloc(32, 7).toString('hex');
let common: Record<string, string>;
let nodes: Server;
let child: ChildProcess | undefined;
beforeAll(async () => {
  nodes = createServer((request, response) => void response.writeHead(request.url === '/3' ? 503 : 200).end());
  await new Promise<void>((resolve) => nodes.listen(0, '127.0.0.1', resolve));
  const away = `127.0.0.1:${await freePort()}`;
  common = {
    ...{ PATH: process.env.PATH ?? '', GATEWAY_ENV: 'local', LOG_LEVEL: 'error', CHAINS: 'ethereum' },
    ...{ CHAIN_ETHEREUM_RPC_URLS: `http://${away}`, TEMPORAL_ADDRESS: away, DATABASE_URL: `postgres://x:x@${away}/x` },
    ...{ WEBHOOK_SECRETS_KEY: key(), MPC_NODE_PEER_CERTS: (await createGroup()).nodes[1].peerCerts },
  };
});
afterEach(async () => {
  if (child?.exitCode === null && child.kill('SIGKILL')) await once(child, 'exit');
});
afterAll(() => new Promise((resolve) => nodes.close(resolve)));

/** Starts a process; returns what its listener shows. */
async function start(entry: string, env: Record<string, string>): Promise<() => Promise<string>> {
  const port = await freePort();
  const file = path.join(projectRoot, 'dist', 'src', 'processes', `${entry}.js`);
  const options = { env: { ...common, METRICS_PORT: String(port), ...env }, stdio: 'ignore' } as const;
  child = spawn(process.execPath, [file], options);
  return async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
}

/** Waits for lines of the metrics. */
const shows = async (page: () => Promise<string>, lines: string[]) => {
  let text = '';
  const areThere = async () => {
    text = await page();
    return lines.every((line) => text.includes(`${line}\n`));
  };
  await waitFor(areThere).catch(() => undefined);
  expect(lines.filter((line) => !text.includes(`${line}\n`))).toEqual([]);
  return text;
};

test('an API without Postgres shows that, and which signing nodes are ready', async () => {
  const { port } = nodes.address() as AddressInfo;
  const page = await start('api', {
    ...{ API_PORT: String(await freePort()), TOTP_SECRETS_KEY: key().replace('07', '08') },
    STORED_ANSWERS_KEY: key().replace('07', '09'),
    JWT_PRIVATE_KEY: newKeyPair('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    MPC_NODE_HEALTH_URLS: [1, 2, 3].map((node) => `http://127.0.0.1:${port}/${node}`).join(','),
  });
  await shows(page, [
    ...['1"} 1', '2"} 1', '3"} 0'].map((node) => `gateway_signing_node_ready{node="${node}`),
    'gateway_readiness_check{check="database"} 0',
    'gateway_readiness_check{check="signers"} 1',
    'gateway_readiness_check{check="chain:ethereum"} 0',
  ]);
});

test('a worker without Postgres shows that it reads nothing', async () => {
  await shows(await start('worker', {}), ['gateway_collection_stale{collection="open"} 1']);
});

describe('with a database', () => {
  let fixture: Fixture;
  beforeAll(async () => {
    fixture = await createFixture({ poolSize: 2 });
  });
  afterAll(() => fixture.close());

  test('a worker without Temporal reads it all the same', async () => {
    const { gateway_worker: DATABASE_URL } = await fixture.logins();
    const text = await shows(await start('worker', { DATABASE_URL }), [
      'gateway_collection_stale{collection="open"} 0',
      'gateway_collection_stale{collection="settlers"} 0',
      'gateway_transactions_open{chain="ethereum",type="OUTBOUND",status="PENDING"} 0',
    ]);
    expect(text).toContain('gateway_chain_follower_idle_seconds{chain="ethereum"}');
  });
});
