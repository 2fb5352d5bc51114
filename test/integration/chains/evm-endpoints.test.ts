import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { orNotEstimated } from '../../../src/chains/endpoints';
import { EvmChainClient } from '../../../src/chains/evm/client';
import { ConfigError } from '../../../src/platform/config';
import { GatewayError } from '../../../src/platform/errors';
import { localChain, rich, startAnvil, type Anvil } from './anvil';
import { startRpcProxy } from './rpc-proxy';

let anvil: Anvil;
let client: EvmChainClient;
beforeAll(async () => {
  anvil = await startAnvil({ noMining: true });
  client = new EvmChainClient(localChain(), [anvil.url]);
}, 30_000);
afterAll(() => anvil.stop());

describe('endpoints', () => {
  it('one that serves another chain is refused at start, and its responses are never used', async () => {
    const base = await startAnvil({ chainId: 8453 });
    try {
      const wrong = new EvmChainClient(client.chain, [base.url]);
      await expect(wrong.verifyIdentity()).rejects.toThrow(ConfigError);
      await expect(wrong.verifyIdentity()).rejects.toThrow(
        'CHAIN_ETHEREUM_RPC_URLS entry 1 serves chain id 8453, ethereum (local) has 1',
      );
      await expect(wrong.head()).rejects.toMatchObject({ code: 'chain_unavailable' });
      const mixed = new EvmChainClient(client.chain, [base.url, anvil.url]);
      expect(await mixed.head()).toEqual(await client.head());
    } finally {
      await base.stop();
    }
  });

  it('one with the right chain id and another genesis block is refused too', async () => {
    const wrong = new EvmChainClient({ ...client.chain, genesisHash: `0x${'1'.repeat(64)}` }, [anvil.url]);
    await expect(wrong.verifyIdentity()).rejects.toThrow(ConfigError);
    await expect(wrong.verifyIdentity()).rejects.toThrow('another genesis block than ethereum');
  });

  it('a dead, failing or limiting endpoint is passed over', async () => {
    for (const answer of [
      { status: 503, body: 'down' },
      { status: 429, body: '' },
      { status: 200, body: '{"jsonrpc":"2.0","id":1,"error":{"code":-32005,"message":"limit exceeded"}}' },
    ]) {
      const server = createServer((_, response) =>
        response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body),
      );
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const broken = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      expect(await new EvmChainClient(client.chain, [broken, anvil.url]).head()).toEqual(await client.head());
      server.close();
      server.closeAllConnections();
    }
    expect(await new EvmChainClient(client.chain, ['http://127.0.0.1:1', anvil.url]).head()).toEqual(await client.head());
  });

  it('one that cannot estimate, in words that nobody knows, is passed over; where all cannot, that is the answer, and no outage', async () => {
    const refusing = await startRpcProxy(anvil.url, ({ method }) =>
      method === 'eth_estimateGas' ? { error: { code: -32000, message: 'the moon is in the wrong house' } } : undefined,
    );
    try {
      const [from, recipient] = [rich[0].address, '0x5bc2e97d04a8f61e3c7b90fd2a6548ec1f73d0e9'];
      const intent = { from, outputs: [{ recipient, tokenContract: null, amount: 1n }] };
      const estimate = (urls: string[]) => new EvmChainClient(client.chain, urls).estimateGas(intent);
      expect(await estimate([refusing.url, anvil.url])).toBe(21_000n);
      for (const urls of [[refusing.url], [refusing.url, 'http://127.0.0.1:1'], ['http://127.0.0.1:1', refusing.url]])
        await expect(estimate(urls)).rejects.toMatchObject({
          code: 'not_estimated',
          message: 'The nodes of ethereum could not estimate the gas of this transfer (code -32000)',
        });
      await expect(estimate(['http://127.0.0.1:1'])).rejects.toMatchObject({ code: 'chain_unavailable' });
    } finally {
      refusing.close();
    }
  });

  it('an attempt for which endpoints answer with a trouble of their own, at any step, is not estimated, also where one is silent', async () => {
    const [from, recipient] = [rich[0].address, '0x5bc2e97d04a8f61e3c7b90fd2a6548ec1f73d0e9'];
    const intent = { from, outputs: [{ recipient, tokenContract: null, amount: 1n }] };
    let trouble = { method: '', code: 0, message: '' };
    const proxies = await Promise.all(
      [1, 2].map(() =>
        startRpcProxy(anvil.url, ({ method }) =>
          method === trouble.method ? { error: { code: trouble.code, message: trouble.message } } : undefined,
        ),
      ),
    );
    const prepare = (...urls: string[]) =>
      new EvmChainClient(client.chain, urls).prepare({ kind: 'first', intent, previous: [] });
    const [one, two] = proxies.map(({ url }) => url) as [string, string];
    try {
      for (const [method, code, message] of [
        ['eth_estimateGas', -32603, 'internal error'],
        ['eth_estimateGas', -32601, 'no such method'],
        ['eth_estimateGas', -32005, 'limit exceeded'],
        ['eth_estimateGas', -32012, 'capacity'],
        ['eth_estimateGas', -32000, 'header not found'],
        ['eth_gasPrice', -32603, 'internal error'],
        ['eth_getTransactionCount', -32000, 'in words that nobody knows'],
      ] as const) {
        trouble = { method, code, message };
        await expect(prepare(one, two)).rejects.toMatchObject({
          code: 'not_estimated',
          message: `The endpoints of ethereum answer, and none says what this transaction takes: the node refused with code ${code}`,
        });
        await expect(prepare(one, anvil.url)).resolves.toMatchObject({ details: { gasLimit: '21000' } });
        await expect(prepare(one, 'http://127.0.0.1:1')).rejects.toMatchObject({
          code: 'not_estimated',
          message: `Of the endpoints of ethereum some do not answer, and none says what this transaction takes: the node refused with code ${code}`,
        });
      }
    } finally {
      for (const proxy of proxies) proxy.close();
    }
  });

  it('with the HTTP status of a failure a JSON-RPC error counts for an attempt where it has the id of its call, and never with 429', async () => {
    const [from, recipient] = [rich[0].address, '0x5bc2e97d04a8f61e3c7b90fd2a6548ec1f73d0e9'];
    const intent = { from, outputs: [{ recipient, tokenContract: null, amount: 1n }] };
    interface Failure {
      status: number;
      hasId: boolean;
      code: number;
      message: string;
    }
    let failure: Failure | null = null;
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const body = Buffer.concat(chunks);
        if (failure) {
          const { status, hasId, ...error } = failure;
          const calls = [JSON.parse(body.toString()) as { id: number } | { id: number }[]].flat();
          const said = calls.map(({ id }) => ({ jsonrpc: '2.0', id: hasId ? id : null, error }));
          return response.writeHead(status).end(JSON.stringify(said));
        }
        const headers = { 'content-type': 'application/json' };
        return void fetch(anvil.url, { method: 'POST', headers, body })
          .then((it) => it.text())
          .then((text) => response.end(text));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const failing = new EvmChainClient(client.chain, [url, url]);
    const halfSilent = new EvmChainClient(client.chain, [url, 'http://127.0.0.1:1']);
    const prepare = (asked: EvmChainClient) => asked.prepare({ kind: 'first', intent, previous: [] });
    try {
      await expect(prepare(failing)).resolves.toMatchObject({ details: { gasLimit: '21000' } });
      for (const asked of [failing, halfSilent]) await asked.verifyIdentity();
      const limit = { code: -32005, message: 'limit exceeded' };
      for (failure of [
        { status: 429, hasId: true, ...limit },
        { status: 503, hasId: false, ...limit },
      ])
        await expect(prepare(failing)).rejects.toMatchObject({
          ...{ code: 'chain_unavailable', message: 'ethereum: no RPC endpoint responded' },
        });
      failure = { status: 503, hasId: true, code: -32603, message: 'internal error' };
      await expect(prepare(failing)).rejects.toMatchObject({ code: 'not_estimated' });
      for (failure of [failure, { status: 500, hasId: true, code: -32000, message: 'the moon is in the wrong house' }])
        for (const asked of [failing, halfSilent])
          await expect(orNotEstimated(client.chain, () => asked.estimateGas(intent))).rejects.toMatchObject({
            code: 'not_estimated',
            message: expect.stringContaining(`code ${failure.code}`) as string,
          });
      failure = { status: 500, hasId: true, code: 3, message: 'execution reverted' };
      await expect(failing.estimateGas(intent)).rejects.toMatchObject({ code: 'would_revert' });
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });

  it('if none responds the error contains no url and no key', async () => {
    const secret = 'http://127.0.0.1:1/v2/secret-api-key';
    const error: unknown = await new EvmChainClient(client.chain, [secret]).head().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(GatewayError);
    expect(error).toMatchObject({ code: 'chain_unavailable', message: 'ethereum: no RPC endpoint responded' });
    const everything =
      JSON.stringify(error, Object.getOwnPropertyNames(error)) +
      String((error as Error).cause) +
      String(((error as Error).cause as Error).stack);
    expect(everything).not.toMatch(/secret|127\.0\.0\.1/);
  });

  it('an unreachable endpoint does not prevent a start', async () => {
    await expect(new EvmChainClient(client.chain, ['http://127.0.0.1:1', anvil.url]).verifyIdentity()).resolves.toBeUndefined();
  });
});
