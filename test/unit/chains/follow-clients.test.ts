import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import type { ChainClient } from '../../../src/chains/chain-client';
import { createWorkerClients } from '../../../src/chains/clients';
import { rpcUrlsVariable } from '../../../src/chains/config';
import { parseChainId } from '../../../src/chains/evm/chain-id';
import { loadRegistry } from '../../../src/chains/registry';
import { chainTaskQueue, followTaskQueue } from '../../../src/messages/task-queues';

/** Scans have connections of their own: those of transfers are free while an endpoint keeps a scan waiting. */

interface Call {
  id: number;
  method: string;
}

const answers: Record<string, unknown> = {
  eth_chainId: '0x7a69',
  web3_clientVersion: 'anvil/v1',
  eth_blockNumber: '0x64',
};

/** An endpoint that answers what is short and never shows a block. */
async function startEndpoint() {
  let held = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const asked = JSON.parse(Buffer.concat(chunks).toString()) as Call | Call[];
      const calls = [asked].flat();
      if (calls.some(({ method }) => !(method in answers))) return void (held += 1);
      const said = calls.map(({ id, method }) => ({ jsonrpc: '2.0', id, result: answers[method] }));
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(Array.isArray(asked) ? said : said[0]));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    held: () => held,
    close: () => server.close().closeAllConnections(),
  };
}

/** An endpoint of either family that says who it is, and counts its requests. */
async function startCounting() {
  let asked = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      asked += 1;
      const isIdentity = Buffer.concat(chunks).toString().includes('getGenesisHash');
      response.end(
        JSON.stringify({ id: 1, result: isIdentity ? '1'.repeat(32) : 5, configNodeInfo: { codeVersion: 'simulator' } }),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: () => asked,
    close: () => server.close().closeAllConnections(),
  };
}

test('an endpoint that keeps all connections of a follower waiting delays no transfer', async () => {
  const endpoint = await startEndpoint();
  try {
    const registry = loadRegistry('local', ['ethereum']);
    answers.eth_chainId = `0x${parseChainId(registry.get('ethereum')).toString(16)}`;
    const env = { [rpcUrlsVariable('ethereum')]: endpoint.url };
    const clients = createWorkerClients(registry, env);
    const [follower, transfers] = [clients.followers.get('ethereum'), clients.transfers.get('ethereum')];
    expect(await Promise.all([follower?.head(), transfers?.head()])).toEqual([{ number: 100 }, { number: 100 }]);
    for (let block = 1; block <= 40; block += 1) {
      follower?.scan(block, block, () => Promise.resolve(new Set())).catch(() => undefined);
      await nextTurn();
    }
    // until scans have arrived, and no more of them come
    for (let before = 0; endpoint.held() === 0 || endpoint.held() > before; await delay(500)) before = endpoint.held();
    let isAnswered = false;
    const answer = () => void (isAnswered = true);
    follower?.head().then(answer, answer);
    await delay(500);
    expect(isAnswered).toBe(false);
    // before the follower's, which was asked for first: their scans do not wait for ever
    expect(await Promise.race([transfers?.head(), delay(8_000, 'waits', { ref: false })])).toEqual({ number: 100 });
    expect(isAnswered).toBe(false);
  } finally {
    endpoint.close();
  }
});

test.each(['tron', 'solana'])(
  'on %s, whose endpoints count requests, those of scans and of transfers take turns',
  async (name) => {
    const endpoint = await startCounting();
    try {
      const registry = loadRegistry('local', [name]);
      const clients = createWorkerClients(registry, { [rpcUrlsVariable(name)]: `${endpoint.url}?rate=50` });
      const [follower, transfers] = [clients.followers.get(name) as ChainClient, clients.transfers.get(name) as ChainClient];
      // each asks for it before its first request: one request alone has to get its turn below
      await Promise.all([follower.verifyIdentity(), transfers.verifyIdentity()]);
      const startedAt = performance.now();
      let scanned = 0;
      const count = () => void (scanned += 1);
      const scans = Array.from({ length: 40 }, () => follower.head().then(count, count));
      await nextTurn();
      await transfers.head().catch(() => undefined);
      // not behind all of them
      expect(scanned).toBeLessThan(30);
      await Promise.all(scans);
      // both together have the rate: two requests were made before, and the first one at once
      expect(endpoint.asked()).toBe(43);
      expect(performance.now() - startedAt).toBeGreaterThanOrEqual(40 * 20);
    } finally {
      endpoint.close();
    }
  },
);

test('followers have task queues of their own', () => {
  expect(followTaskQueue('ethereum')).not.toBe(chainTaskQueue('ethereum'));
});
