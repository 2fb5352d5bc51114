import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { TronChainClient } from '../../../src/chains/tron/client';
import { TronNode } from '../../../src/chains/tron/node';
import { LimitedRequests } from '../../../src/chains/no-answer';
import { Pace } from '../../../src/chains/pace';
import { Paces } from '../../../src/chains/request-rate';
import { parseEndpoint } from '../../../src/chains/tron/url';
import type { Hex } from '../../../src/chains/types';
import { ConfigError } from '../../../src/platform/config';
import { connectTron, tronDefinition } from '../../tron-client';
import { signed, TestChain, trx } from '../../tron-simulator';

interface Stub {
  url: string;
  /** Paths and headers of what was asked. */
  asked: { path: string; headers: IncomingMessage['headers']; body: string }[];
}

const servers: Server[] = [];

/** A node with these answers, of which the last one is repeated; a number is a status. */
async function stub(...answers: (object | number | string)[]): Promise<Stub> {
  const asked: Stub['asked'] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const answer = answers[Math.min(asked.length, answers.length - 1)];
      asked.push({ path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks).toString() });
      if (typeof answer === 'number') response.writeHead(answer).end('{}');
      else response.end(typeof answer === 'string' ? answer : JSON.stringify(answer));
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

const nile = tronDefinition({
  network: 'nile',
  genesisHash: `${'0'.repeat(16)}d698d4192c56cb6be724a558448e2684802de4d6cd8690dc`,
});
const genesis = (id: string | null) => ({ blockID: id, block_header: { raw_data: { parentHash: 'e'.repeat(64) } } });
const receiptOf = (url: string) => new TronNode(nile, url, 1, Date.now, new Paces()).findReceipt('a'.repeat(64));

afterAll(async () => {
  for (const server of servers) await new Promise((resolve) => server.close(resolve).closeAllConnections());
  await TestChain.stopAll();
});

describe('the url', () => {
  test('has the API key, which is sent in a header, and the rate', async () => {
    const { url, asked } = await stub({});
    const withKey = url.replace('http://', 'http://my%20key@');
    expect(await receiptOf(`${withKey}/v1/?rate=5`)).toBeNull();
    expect(asked[0]).toMatchObject({ path: '/v1/walletsolidity/gettransactioninfobyid', body: `{"value":"${'a'.repeat(64)}"}` });
    expect(asked[0]?.headers).toMatchObject({ 'tron-pro-api-key': 'my key', 'content-type': 'application/json' });
    expect(asked[0]?.headers.authorization).toBeUndefined();
    await receiptOf(url);
    expect(asked[1]?.headers).not.toHaveProperty('tron-pro-api-key');
  });

  test.each(['0', '-1', 'x', '1001', 'Infinity'])('with the rate %s is refused, and not shown', (rate) => {
    const create = () => parseEndpoint(`https://secret@host.example/?rate=${rate}`, 'CHAIN_TRON_RPC_URLS entry 2', new Paces());
    expect(create).toThrow(ConfigError);
    expect(create).toThrow(/^CHAIN_TRON_RPC_URLS entry 2 has a rate/);
  });
});

describe('requests', () => {
  test('are spaced by the rate, and wait when the endpoint has refused one', async () => {
    const pace = new Pace(50).turns();
    const started = Date.now();
    await Promise.all(Array.from({ length: 6 }, () => pace.wait()));
    expect(Date.now() - started).toBeGreaterThanOrEqual(95);
    pace.pause(100);
    const paused = Date.now();
    await pace.wait();
    expect(Date.now() - paused).toBeGreaterThanOrEqual(95);
  });

  test('that would wait too long are refused', async () => {
    const pace = new Pace(1, () => 0).turns();
    pace.pause(15_001);
    const refused: unknown = await pace.wait().catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(LimitedRequests);
    expect(refused).toMatchObject({ message: 'too many requests wait for the endpoint' });
  });

  test('wait no longer when the clock of the machine is set back', async () => {
    const began = Date.now();
    const clock = jest.spyOn(Date, 'now').mockReturnValue(began);
    try {
      const pace = new Pace(50).turns();
      await pace.wait();
      clock.mockReturnValue(began - 3_600_000);
      const started = performance.now();
      await Promise.all([pace.wait(), pace.wait()]);
      // not the hour that the clock lost
      expect(performance.now() - started).toBeLessThan(30_000);
    } finally {
      clock.mockRestore();
    }
  });

  test('of one client are delayed by those of another by one each', async () => {
    const pace = new Pace(100);
    const [transfers, scans] = [pace.turns(), pace.turns()];
    const order: string[] = [];
    const wait = (name: string, { wait: ofClient }: typeof scans) => ofClient().then(() => void order.push(name));
    const many = Array.from({ length: 20 }, () => wait('scan', scans));
    await Promise.all([wait('transfer', transfers), wait('transfer', transfers)]);
    // the first one was sent at once
    expect(order.slice(0, 5).filter((name) => name === 'transfer')).toHaveLength(2);
    await Promise.all(many);
    expect(order).toHaveLength(22);
  });

  test('of one client are refused when too many wait, and those of another are not; what has waited for too long is refused in its turn', async () => {
    let nowMs = 0;
    const pace = new Pace(1, () => nowMs);
    const [busy, other] = [pace.turns(), pace.turns()];
    const outcomeOf = ({ wait }: typeof busy) =>
      wait().then(
        () => 'sent',
        (error: Error) => error.message,
      );
    const waiting = Array.from({ length: 16 }, () => outcomeOf(busy));
    const refused = 'too many requests wait for the endpoint';
    expect(await outcomeOf(busy)).toBe(refused);
    waiting.push(outcomeOf(other));
    nowMs = 31_000;
    expect(await Promise.all(waiting)).toEqual(['sent', ...Array.from({ length: 16 }, () => refused)]);
  });

  test.each([429, 403])('that were one too many (%s) are repeated', async (status) => {
    const { url, asked } = await stub(status, {});
    expect(await receiptOf(url)).toBeNull();
    expect(asked).toHaveLength(2);
  });

  test.each<[string, object | number | string]>([
    ['a failure', 500],
    ['no JSON', '<html>'],
    ['an exception with status 200', { Error: 'class java.lang.NullPointerException : null' }],
    ['a list', []],
    ['another transaction', { id: 'b'.repeat(64), blockNumber: 1 }],
    ['no number', { id: 'a'.repeat(64), blockNumber: 'x' }],
  ])('are not repeated after %s', async (_, answer) => {
    const { url, asked } = await stub(answer);
    const failure = await receiptOf(url).catch((error: unknown) => error as Error);
    expect(failure).toBeInstanceOf(Error);
    expect((failure as Error).message).not.toContain('127.0.0.1');
    expect(asked).toHaveLength(1);
  });
});

describe('identity', () => {
  test('the genesis block of the chain is taken', async () => {
    const { url } = await stub(genesis(nile.genesisHash));
    await expect(new TronChainClient(nile, [url]).verifyIdentity()).resolves.toBeUndefined();
  });

  test('a node that does not show its first block is passed over', async () => {
    const [silent, good] = [await stub({}), await stub(genesis(nile.genesisHash), {})];
    const client = new TronChainClient(nile, [silent.url, good.url]);
    expect(await client.foreignState({ id: 'a'.repeat(64) } as never)).toBe('absent');
    expect(silent.asked).toHaveLength(1);
  });

  test('another genesis block stops the process', async () => {
    const { url } = await stub(genesis('00000000000000001ebf88508a03865c71d452e25f4d51194196a1d22b6653dc'));
    const verified = new TronChainClient(nile, [url]).verifyIdentity();
    await expect(verified).rejects.toThrow('CHAIN_TRON_RPC_URLS entry 1 serves a chain with another genesis block');
    await expect(verified).rejects.toBeInstanceOf(ConfigError);
  });

  test('a real node is refused locally', async () => {
    const { url } = await stub({ configNodeInfo: { codeVersion: '4.8.0' } });
    await expect(new TronChainClient(tronDefinition(), [url]).verifyIdentity()).rejects.toThrow('is not the simulator');
  });
});

describe('what nodes say of a transaction', () => {
  const bytes = '0x0a0105' as const;
  const txid = createHash('sha256').update(Buffer.from('05', 'hex')).digest('hex');
  const first = genesis(nile.genesisHash);
  /** `known`: what it says of the transaction then; a number is a status. */
  const refusing = (code: string, known: object | number = {}) => stub(first, { code, txid, message: '' }, known);
  const accepting = () => stub(first, { result: true, txid });
  const send = async (...stubs: Promise<Stub>[]) =>
    new TronChainClient(
      nile,
      (await Promise.all(stubs)).map(({ url }) => `${url}?rate=1000`),
    ).broadcast(bytes);

  test.each([
    'SERVER_BUSY',
    'NO_CONNECTION',
    'NOT_ENOUGH_EFFECTIVE_CONNECTION',
    'BLOCK_UNSOLIDIFIED',
    'CONTRACT_VALIDATE_ERROR',
    'CONTRACT_EXE_ERROR',
    'BANDWITH_ERROR',
  ])('%s is of this node at this moment: another one may take it, or this one later', async (code) => {
    expect(await send(refusing(code), accepting())).toEqual({ outcome: 'accepted' });
    expect(await send(refusing(code, { txID: txid }))).toEqual({ outcome: 'accepted' });
    expect(await send(refusing(code), refusing(code))).toEqual({
      ...{ outcome: 'waiting', reason: expect.stringMatching(/node|account|contract/), passing: 'view' },
    });
  });

  test.each([
    ['OTHER_ERROR', 'OTHER_ERROR'],
    ['SOMETHING_NEW', 'SOMETHING_NEW'],
    ['constructor', 'unknown'],
    ['http://node1.example/?key=secret', 'unknown'],
  ])('%s may stand for what passes, and is shown where it is a code', async (code, shown) => {
    expect(await send(refusing(code), accepting())).toEqual({ outcome: 'accepted' });
    expect(await send(refusing(code))).toEqual({
      ...{ outcome: 'waiting', reason: `refused by the node (code ${shown})`, passing: 'unknown' },
    });
  });

  const unusable = (words: string) => ({
    ...{ outcome: 'waiting', reason: `no endpoint takes it; they answer: ${words}`, passing: 'unknown' },
  });

  test('an answer with neither a result nor a code says nothing: it is waited for where every endpoint gives one', async () => {
    const failing = () => stub(first, { Error: 'class java.lang.NullPointerException' }, {});
    expect(await send(failing(), accepting())).toEqual({ outcome: 'accepted' });
    expect(await send(failing(), failing())).toEqual(unusable('the node refused the request'));
    expect(await send(failing(), stub(first, 500))).toEqual(unusable('the node refused the request; not every endpoint answers'));
    await expect(send(stub(first, 500))).rejects.toMatchObject({ code: 'chain_unavailable' });
  });

  test.each(['TAPOS_ERROR', 'TRANSACTION_EXPIRATION_ERROR', 'DUP_TRANSACTION_ERROR'])(
    '%s is of what this node has seen: another one may take it, and else its end by time is waited for',
    async (code) => {
      expect(await send(refusing(code), accepting())).toEqual({ outcome: 'accepted' });
      expect(await send(refusing(code, { txID: txid }))).toEqual({ outcome: 'accepted' });
      expect(await send(refusing(code))).toEqual({ outcome: 'waiting', reason: expect.any(String) });
    },
  );

  test.each(['SIGERROR', 'TOO_BIG_TRANSACTION_ERROR'])('%s counts at once, unless the node has it', async (code) => {
    expect(await send(refusing(code), accepting())).toEqual({ outcome: 'rejected', reason: expect.any(String) });
    expect(await send(refusing(code, { txID: txid }))).toEqual({ outcome: 'accepted' });
  });

  test('a refusal of a node that does not say whether it has it is a trouble: it is never one for good', async () => {
    expect(await send(refusing('SIGERROR', 500), accepting())).toEqual({ outcome: 'accepted' });
    expect(await send(refusing('SIGERROR', 500), stub(first, 500))).toEqual({
      ...{ outcome: 'waiting', reason: 'the signature was refused; not every endpoint answers', passing: 'unknown' },
    });
    expect(await send(refusing('SERVER_BUSY', 500))).toEqual({
      ...{ outcome: 'waiting', reason: 'too many transactions wait at the node', passing: 'view' },
    });
  });

  test('an answer about another transaction is none', async () => {
    const other = () => stub(first, { result: true, txid: 'ab'.repeat(32) });
    expect(await send(other())).toEqual(unusable('the answer is about another transaction'));
    expect(await send(other(), stub(first, 500))).toEqual(
      unusable('the answer is about another transaction; not every endpoint answers'),
    );
  });
});

test('an endpoint that remembers ids calls what it has refused a duplicate: that is waited for, and another endpoint takes it', async () => {
  const chain = await TestChain.start();
  await chain.control('mine', { blocks: 25 });
  await chain.control('endpoint', { name: 'remembering', remembersIds: true });
  const [from, to] = [await chain.funded(trx(2)), await chain.funded()];
  const bytes: Hex = `0x${signed(chain.transfer(from, to, trx(5)), from.key).toString('hex')}`;
  const remembering = connectTron(chain, ['remembering']);
  const lacking = { outcome: 'waiting', reason: 'the account lacks what it is to pay', passing: 'view' };
  expect(await connectTron(chain).broadcast(bytes)).toEqual(lacking);
  expect(await connectTron(chain).broadcast(bytes)).toEqual(lacking);
  expect(await remembering.broadcast(bytes)).toEqual(lacking);
  await chain.control('faucet', { address: from.address, amount: String(trx(10)) });
  // of its expiry or inclusion the chain decides: no `passing`, by which it would be parked
  expect(await remembering.broadcast(bytes)).toEqual({ outcome: 'waiting', reason: 'the node has seen it before' });
  expect(await connectTron(chain, ['remembering', 'other']).broadcast(bytes)).toEqual({ outcome: 'accepted' });
  expect(await remembering.broadcast(bytes)).toEqual({ outcome: 'accepted' });
});

test('an endpoint that is down, late with its limit or refuses is followed by the next one', async () => {
  const chain = await TestChain.start();
  await chain.control('mine', { blocks: 25 });
  const client = connectTron(chain, ['down', 'limited', 'good']);
  await chain.control('endpoint', { name: 'down', down: true });
  await chain.control('endpoint', { name: 'limited', requestsPerSecond: 0 });
  expect(await client.head()).toEqual({ number: expect.any(Number) });
  await chain.control('endpoint', { name: 'good', down: true });
  const failure = await client.head().catch((error: unknown) => error as Error);
  expect(failure).toMatchObject({ code: 'chain_unavailable' });
  expect((failure as Error).message).not.toContain('127.0.0.1');
});
