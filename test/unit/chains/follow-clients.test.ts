import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { createChainClients, createFollowClients } from '../../../src/chains/clients';
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

test('an endpoint that keeps all connections of a follower waiting delays no transfer', async () => {
  const endpoint = await startEndpoint();
  try {
    const registry = loadRegistry('local', ['ethereum']);
    answers.eth_chainId = `0x${parseChainId(registry.get('ethereum')).toString(16)}`;
    const env = { [rpcUrlsVariable('ethereum')]: endpoint.url };
    const ofTransfers = createChainClients(registry, env);
    const [follower, transfers] = [createFollowClients(registry, ofTransfers, env).get('ethereum'), ofTransfers.get('ethereum')];
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

test('only chains whose endpoints count requests have one client for both, whose requests take turns', () => {
  const registry = loadRegistry('local', ['ethereum', 'bitcoin', 'tron', 'solana']);
  const env = Object.fromEntries(registry.all.map(({ name }) => [rpcUrlsVariable(name), 'http://127.0.0.1:1']));
  const ofTransfers = createChainClients(registry, env);
  const followers = createFollowClients(registry, ofTransfers, env);
  const shared = registry.all.filter(({ name }) => followers.get(name) === ofTransfers.get(name));
  expect(shared.map(({ name }) => name).sort()).toEqual(['solana', 'tron']);
  expect(followers.size).toBe(4);
});

test('followers have task queues of their own', () => {
  expect(followTaskQueue('ethereum')).not.toBe(chainTaskQueue('ethereum'));
});
