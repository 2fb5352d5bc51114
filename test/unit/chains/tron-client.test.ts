import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { NotEstimated } from '../../../src/chains/endpoints';
import { LimitedRequests, NoAnswer } from '../../../src/chains/no-answer';
import { Paces } from '../../../src/chains/request-rate';
import { TronChainClient } from '../../../src/chains/tron/client';
import { TronNode } from '../../../src/chains/tron/node';
import { prepareTransfer } from '../../../src/chains/tron/prepare';
import { parseAddress } from '../../../dev/tron/address';
import type { EffectRequest } from '../../../src/chains/chain-client';
import { getFamily } from '../../../src/chains/families';
import type { Hex, TransactionIntent } from '../../../src/chains/types';
import { clockOf, connectTron, type MadeTransaction, makeTron, payTron, statusOfTron, tronDefinition } from '../../tron-client';
import { type Holder, newHolder, TestChain, transferData, trx, usdt } from '../../tron-simulator';

let chain: TestChain;
let client: TronChainClient;
let [alice, bob]: Holder[] = [];
const definition = tronDefinition;
const from = () => alice as Holder;
const to = () => bob as Holder;
const mine = (blocks = 1, skip_ms = 0) => chain.control('mine', { blocks, skip_ms });
/** Until what is in blocks is solidified. */
const solidify = () => mine(19);

const pay = (recipient: string, amount: bigint, token: string | null = null, memo?: string): TransactionIntent => ({
  ...payTron(from(), recipient, amount, token),
  ...(memo !== undefined && { memo }),
});
const make = (intent: TransactionIntent) => makeTron(client, from(), intent);
const statusOf = async (made: MadeTransaction) => (await statusOfTron(client, made))[0];
const effectOf = async ({ id, intent, unsigned }: EffectRequest) => (await client.effects([{ id, intent, unsigned }])).get(id);

beforeAll(async () => {
  chain = await TestChain.start();
  client = connectTron(chain);
  alice = await chain.funded(trx(10_000), 1_000_000_000n);
  bob = await chain.funded(trx(5));
  await solidify();
});
afterEach(() => chain.control('heal'));
afterAll(() => TestChain.stopAll());

test('while a node does not answer what a token transfer would take, and answers the rest: not estimated', async () => {
  const node = new TronNode(tronDefinition(), `${chain.url}?rate=1000`, 1, clockOf(chain), new Paces());
  node.call = () => Promise.reject(new NoAnswer('no response in time'));
  const asked = prepareTransfer(node, tronDefinition(), pay(to().address, 1n, usdt));
  await expect(asked).rejects.toThrow(NotEstimated);
  await expect(asked).rejects.toThrow('none says what this transaction takes: no response in time');
});

test('while a node limits requests, and answers the rest: that passes, and nobody is told', async () => {
  const node = new TronNode(tronDefinition(), `${chain.url}?rate=1000`, 1, clockOf(chain), new Paces());
  node.call = () => Promise.reject(new LimitedRequests('too many requests wait for the endpoint'));
  const asked = prepareTransfer(node, tronDefinition(), pay(to().address, 1n, usdt));
  await expect(asked).rejects.toThrow(LimitedRequests);
});

describe('TRX', () => {
  test('is prepared, taken, pending, and included once it is solidified', async () => {
    const made = await make(pay(to().address, trx(3)));
    // an account that exists: its bytes alone
    expect(BigInt(made.prepared.feeBound)).toBeGreaterThanOrEqual(268_000n);
    expect(BigInt(made.prepared.feeBound)).toBeLessThan(280_000n);
    expect(await statusOf(made)).toEqual({ attempt: 1, state: 'absent' });
    expect(await client.broadcast(made.bytes)).toEqual({ outcome: 'accepted' });
    expect(await client.broadcast(made.bytes)).toEqual({ outcome: 'accepted' });
    expect(await statusOf(made)).toEqual({ attempt: 1, state: 'pending', id: made.id });
    await mine();
    expect(await statusOf(made)).toMatchObject({ state: 'pending' });
    expect(await effectOf(made)).toBeUndefined();
    await solidify();
    const amount = trx(3);
    const effect = { success: true, debited: amount, received: amount, fee: expect.any(BigInt) };
    expect(await statusOf(made)).toEqual({
      ...{ attempt: 1, state: 'included', id: made.id, depth: 1 },
      effect: { ...effect, blockNumber: expect.any(Number), blockHash: expect.stringMatching(/^[0-9a-f]{64}$/) },
    });
    expect(await effectOf(made)).toMatchObject(effect);
    // again, and late
    expect(await client.broadcast(made.bytes)).toEqual({ outcome: 'accepted' });
  });

  test('to somebody new costs an account, which is within the bound and in the fee', async () => {
    const stranger = newHolder();
    const made = await make(pay(stranger.address, trx(2)));
    const chainBound = getFamily('tron-local').fees.bound(definition(), definition().native, await client.feeLevels());
    expect(BigInt(made.prepared.feeBound)).toBeGreaterThan(trx(1));
    expect(BigInt(made.prepared.feeBound)).toBeLessThanOrEqual(chainBound);
    await client.broadcast(made.bytes);
    await mine();
    await solidify();
    const effect = await effectOf(made);
    expect(effect?.fee).toBe(1_100_000n);
    expect(await chain.balance(stranger)).toBe(trx(2));
  });

  test('with a memo costs what memos cost', async () => {
    const plain = await make(pay(to().address, trx(1)));
    const made = await make(pay(to().address, trx(1), null, 'invoice 7'));
    expect(BigInt(made.prepared.feeBound) - BigInt(plain.prepared.feeBound)).toBe(1_000_000n + 11n * 1_000n);
    await client.broadcast(made.bytes);
    await mine();
    await solidify();
    expect((await effectOf(made))?.fee).toBeGreaterThanOrEqual(1_000_000n);
  });

  test('is not prepared for a contract, nor without the TRX for it', async () => {
    await expect(client.prepare({ kind: 'first', intent: pay(usdt, 1n), previous: [] })).rejects.toMatchObject({
      code: 'would_revert',
    });
    const intent = pay(newHolder().address, trx(100_000));
    await expect(client.prepare({ kind: 'first', intent, previous: [] })).rejects.toMatchObject({
      ...{ code: 'not_estimated', message: 'tron: the account has less TRX than the transaction takes' },
    });
  });
});

describe('tokens', () => {
  test('a transfer is judged by its event, and pays within its bound', async () => {
    const intent = pay(newHolder().address, 5_000_000n, usdt);
    const made = await make(intent);
    const token = definition().tokens.find(({ contract }) => contract === usdt);
    const bound = token && getFamily('tron-local').fees.bound(definition(), token, await client.feeLevels());
    expect(BigInt(made.prepared.feeBound)).toBeLessThanOrEqual(bound ?? 0n);
    await client.broadcast(made.bytes);
    await mine();
    await solidify();
    const effect = await effectOf(made);
    expect(effect).toMatchObject({ success: true, debited: 5_000_000n, received: 5_000_000n });
    expect(effect?.fee).toBeGreaterThan(0n);
    expect(effect?.fee).toBeLessThanOrEqual(BigInt(made.prepared.feeBound));
  });

  test('for the end of a transfer every endpoint is asked what it shows: one leaves out the logs, the block, or what the contract has done', async () => {
    const made = await make(pay(newHolder().address, 5_000_000n, usdt));
    await client.broadcast(made.bytes);
    await mine();
    await solidify();
    const effect = await effectOf(made);
    const asked = connectTron(chain, ['honest', 'other']);
    const item = { id: made.id, intent: made.intent, unsigned: made.unsigned };
    expect(await asked.effectAtEach(item)).toEqual([effect, effect]);
    const lie = (name: string | null) => chain.control('endpoint', { name: 'other', lie: name });
    await lie('logs');
    expect(await asked.effectAtEach(item)).toEqual([effect, { ...effect, debited: null, received: null }]);
    await lie('absent');
    expect(await asked.effectAtEach(item)).toEqual([effect, null]);
    await lie('ids');
    expect(await asked.effectAtEach(item)).toEqual([
      effect,
      { ...effect, blockHash: expect.not.stringMatching(effect?.blockHash ?? '') },
    ]);
    // a failure that has left logs
    await lie('failed');
    expect(await asked.effectAtEach(item)).toEqual([effect, null]);
    await chain.control('endpoint', { name: 'other', lie: null, down: true });
    expect(await asked.effectAtEach(item)).toEqual([effect, null]);
  });

  test('the fee limit has room for a penalty that grows before the transfer is executed', async () => {
    await chain.control('contract', { address: usdt, energyFactor: 10_000 });
    const made = await make(pay(to().address, 1n, usdt));
    await client.broadcast(made.bytes);
    await chain.control('contract', { address: usdt, energyFactor: 14_000 });
    await mine();
    await solidify();
    expect(await effectOf(made)).toMatchObject({ success: true, received: 1n });
    await chain.control('contract', { address: usdt, energyFactor: 0 });
  });

  test('the fee limit has room for a recipient that gives away its last token before', async () => {
    const holder = await chain.funded(trx(100), 7n);
    const made = await make(pay(holder.address, 1n, usdt));
    await chain.include(chain.call(holder, parseAddress(usdt), transferData(from(), 7n)), holder);
    await client.broadcast(made.bytes);
    await mine();
    await solidify();
    expect(await effectOf(made)).toMatchObject({ success: true, received: 1n });
  });

  test('what runs out of energy has failed, with its fee', async () => {
    const made = await make(pay(to().address, 1n, usdt));
    await chain.control('contract', { address: usdt, energyFactor: 34_000 });
    await client.broadcast(made.bytes);
    await mine();
    await chain.control('contract', { address: usdt, energyFactor: 0 });
    await solidify();
    const effect = await effectOf(made);
    expect(effect).toMatchObject({ success: false, debited: null, received: null });
    expect(effect?.fee).toBeGreaterThan(0n);
    expect(effect?.fee).toBeLessThanOrEqual(BigInt(made.prepared.feeBound));
  });

  test('a call that no node executes, for a reason that is not known, is no outage', async () => {
    const intent = pay(to().address, 3n, newHolder().address);
    await expect(client.prepare({ kind: 'first', intent, previous: [] })).rejects.toMatchObject({ code: 'not_estimated' });
  });

  test('bandwidth and energy that are staked for are counted in what the account needs, and not in the bound', async () => {
    const holder = await chain.funded(trx(1), 9n);
    const intent = payTron(holder, to().address, 3n, usdt);
    const prepare = () => client.prepare({ kind: 'first', intent, previous: [] });
    const rich = await client.prepare({ kind: 'first', intent: pay(to().address, 3n, usdt), previous: [] });
    await expect(prepare()).rejects.toMatchObject({ code: 'not_estimated' });
    await chain.control('resources', { address: holder.address, energy: '1000' });
    await expect(prepare()).rejects.toMatchObject({ code: 'not_estimated' });
    await chain.control('resources', { address: holder.address, bandwidth: '5000', energy: '100000' });
    expect((await prepare()).feeBound).toBe(rich.feeBound);
    const made = await makeTron(client, holder, intent);
    await client.broadcast(made.bytes);
    await mine();
    await solidify();
    expect(await effectOf(made)).toMatchObject({ success: true, received: 3n, fee: 0n });
    expect(await chain.balance(holder)).toBe(trx(1));
  });

  test('a transfer that would revert is not prepared', async () => {
    const intent = pay(to().address, 10n ** 18n, usdt);
    await expect(client.prepare({ kind: 'first', intent, previous: [] })).rejects.toMatchObject({ code: 'would_revert' });
  });
});

test('a balance is that of the solidified blocks, of TRX and of tokens', async () => {
  const holder = await chain.funded(trx(2), 5n);
  await solidify();
  const nobody = newHolder().address;
  const read = async (address: string) => [await client.balance(address, null), await client.balance(address, usdt)];
  expect(await read(holder.address)).toEqual([trx(2), 5n]);
  expect(await read(nobody)).toEqual([0n, 0n]);
  const made = [await make(pay(holder.address, trx(1))), await make(pay(holder.address, 4n, usdt))];
  for (const { bytes } of made) await client.broadcast(bytes);
  await mine();
  expect(await read(holder.address)).toEqual([trx(2), 5n]);
  await solidify();
  expect(await read(holder.address)).toEqual([trx(3), 9n]);
});

test('equal payments at the same moment are different transactions', async () => {
  const stranger = await chain.funded(trx(1));
  const made = await Promise.all(Array.from({ length: 20 }, () => make(pay(stranger.address, trx(1)))));
  expect(new Set(made.map(({ id }) => id)).size).toBe(20);
  await Promise.all(made.map(({ bytes }) => client.broadcast(bytes)));
  await mine();
  await solidify();
  const effects = await client.effects(made.map(({ id, intent, unsigned }) => ({ id, intent, unsigned })));
  expect(made.map(({ id }) => effects.get(id)?.success)).toEqual(made.map(() => true));
  expect(await chain.balance(stranger)).toBe(trx(21));
});

test('what a fork has removed is sent again', async () => {
  const made = await make(pay(to().address, trx(1)));
  await client.broadcast(made.bytes);
  await mine(2);
  await chain.control('fork', { depth: 2, transactions: 'drop' });
  expect(await statusOf(made)).toEqual({ attempt: 1, state: 'absent' });
  expect(await client.broadcast(made.bytes)).toEqual({ outcome: 'accepted' });
  await mine();
  await solidify();
  expect(await statusOf(made)).toMatchObject({ state: 'included', effect: { success: true } });
});

describe('broadcast', () => {
  test.each<[string, object, (made: MadeTransaction) => Promise<unknown>]>([
    ['expired', { reason: 'the transaction has expired' }, () => mine(1, 600_000)],
    [
      'not covered',
      { reason: 'the account lacks what it is to pay', passing: 'view' },
      async () => {
        const spend = chain.transfer(from(), to(), (await chain.balance(from())) - trx(1));
        await chain.include(spend, from());
      },
    ],
  ])('what is %s waits', async (_, said, change) => {
    const made = await make(pay(to().address, trx(2)));
    await change(made);
    expect(await client.broadcast(made.bytes)).toEqual({ outcome: 'waiting', ...said });
    await chain.control('faucet', { address: from().address, amount: String(trx(10_000)) });
    await solidify();
  });

  test('nothing is prepared at a node whose chain is in the future', async () => {
    const ahead = await TestChain.start();
    const sender = await ahead.funded(trx(10));
    await ahead.control('mine', { blocks: 25, skip_ms: 3_600_000 });
    await expect(makeTron(connectTron(ahead), sender, payTron(sender, to().address, trx(2)))).rejects.toMatchObject({
      code: 'not_estimated',
    });
    await ahead.stop();
  });

  test('with another signature it is rejected at once', async () => {
    const made = await make(pay(to().address, trx(2)));
    const bytes = `${made.bytes.slice(0, -4)}${made.bytes.endsWith('1b') ? '001c' : '001b'}` as Hex;
    expect(await client.broadcast(bytes)).toEqual({ outcome: 'rejected', reason: 'the signature was refused' });
  });
});

describe('an endpoint that names impossible prices', () => {
  type Json = Record<string, unknown>;
  /** The simulator, of which the answer at one path is another one. */
  async function startLiar(path: string, falsify: (answer: Json) => Json) {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const asked = fetch(`${chain.url}${request.url ?? ''}`, { method: 'POST', body: Buffer.concat(chunks) });
        void asked
          .then((it) => it.json() as Promise<Json>)
          .then((answer) => response.end(JSON.stringify(request.url === path ? falsify(answer) : answer)));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}?rate=1000`;
    return { url, close: () => server.close().closeAllConnections() };
  }
  const clientOf = (...urls: string[]) => new TronChainClient(definition(), urls);
  const honest = () => `${chain.url}?rate=1000`;
  const intent = () => pay(to().address, 5n, usdt);
  const prepare = (...urls: string[]) => clientOf(...urls).prepare({ kind: 'first', intent: intent(), previous: [] });

  test('is passed over; while there is no other one nothing is prepared, and it says why', async () => {
    const liar = await startLiar('/wallet/getchainparameters', ({ chainParameter }) => ({
      chainParameter: (chainParameter as Json[]).map((it) => (it.key === 'getEnergyFee' ? { ...it, value: 701 } : it)),
    }));
    try {
      const usual = await prepare(honest());
      expect((await prepare(liar.url, honest())).feeBound).toBe(usual.feeBound);
      expect(await clientOf(liar.url, honest()).feeLevels()).toMatchObject({ energyPrice: '100' });
      const fault = { code: 'chain_unavailable', cause: { alert: 'fees_not_believed' } };
      await expect(prepare(liar.url)).rejects.toMatchObject(fault);
      await expect(clientOf(liar.url).feeLevels()).rejects.toMatchObject(fault);
    } finally {
      liar.close();
    }
  });

  test('and energy that would cost more than any transaction may: another one is asked; where none says less, no outage', async () => {
    const liar = await startLiar('/wallet/triggerconstantcontract', (answer) => ({
      ...{ ...answer, energy_used: 1_000_000, energy_penalty: 950_000 },
    }));
    try {
      const usual = await prepare(honest());
      expect((await prepare(liar.url, honest())).feeBound).toBe(usual.feeBound);
      await expect(prepare(liar.url)).rejects.toMatchObject({
        ...{
          code: 'not_estimated',
          message: expect.stringMatching(/^tron: it would take \d+ sun, which no transaction may cost$/),
        },
      });
      // a penalty of nineteen times what it takes
      await expect(clientOf(liar.url).feeLevels()).rejects.toMatchObject({ cause: { alert: 'fees_not_believed' } });
      expect(await clientOf(liar.url, honest()).feeLevels()).toEqual(await clientOf(honest()).feeLevels());
    } finally {
      liar.close();
    }
  });
});
