import { numberToHex, pad } from 'viem';
import type { EndpointFault } from '../../../src/chains/endpoints';
import { DoubtfulRefusal } from '../../../src/chains/evm/batch';
import { NodeRefusal, type RpcCall } from '../../../src/chains/evm/rpc';
import { scanBlocks } from '../../../src/chains/evm/scan/scan';
import { transferTopic } from '../../../src/chains/evm/rpc-types';
import { getChains } from '../../../src/chains/registry/data';
import type { ChainDefinition } from '../../../src/chains/types';

const chain = getChains('production')[0] as ChainDefinition;
const usdc = (chain.tokens[0]?.contract as string).toLowerCase();
const ours = `0x${'aa'.repeat(20)}`;
const stranger = `0x${'bb'.repeat(20)}`;
const hashOf = (number: number) => pad(numberToHex(number));
const everyBit = `0x${'ff'.repeat(256)}`;
const noBit = `0x${'00'.repeat(256)}`;

type Method = (params: unknown[]) => unknown;
/** A node with the responses of the test; `asked` records the calls. */
function node(methods: Record<string, Method>) {
  const asked: [string, unknown[]][] = [];
  const standard: Record<string, Method> = {
    eth_getBlockByNumber: ([number]) => block(Number(number)),
    eth_getLogs: () => [],
    trace_block: () => [],
  };
  const call = ((method: string, params: unknown[]) => {
    asked.push([method, params]);
    const answer = methods[method] ?? standard[method];
    if (!answer) throw new Error(`nobody expected ${method}`);
    return Promise.resolve().then(() => answer(params));
  }) as RpcCall;
  return { call, asked };
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

const block = (number: number, logsBloom = noBit) => ({
  number: numberToHex(number),
  hash: hashOf(number),
  parentHash: hashOf(number - 1),
  logsBloom,
  transactions: [],
});
const log = (number: number, changes: object = {}) => ({
  address: usdc,
  topics: [transferTopic, pad(stranger as '0x'), pad(ours as '0x')],
  data: pad('0x7b'),
  blockNumber: numberToHex(number),
  blockHash: hashOf(number),
  transactionHash: hashOf(900 + number),
  logIndex: '0x5',
  ...changes,
});
const receipt = (number: number) => ({
  blockHash: hashOf(number),
  status: '0x1',
  logs: [{ logIndex: '0x4' }, { logIndex: '0x5' }],
});
/** Of two strangers, with a price. */
const paying = {
  hash: hashOf(905),
  from: stranger,
  to: stranger,
  value: '0x1',
  nonce: '0x0',
  gas: '0x5208',
  gasPrice: '0x1',
  input: '0x',
};
const missing = { trace_block: () => Promise.reject(new NodeRefusal(-32601, 'the method does not exist')) };
const scan = async (call: RpcCall, from: number, to: number, facts = new Map<string, unknown>(), where = chain) => {
  const isOurs = (keys: string[]) => Promise.resolve(new Set(keys.filter((key) => key === ours)));
  const { blocks, scannedTo } = await scanBlocks(call, where, { from, to }, isOurs, facts);
  expect(scannedTo).toBe(blocks.at(-1)?.number ?? from - 1);
  return blocks;
};

describe('scan', () => {
  it('places a log within its receipt, not within its block', async () => {
    const { call } = node({ eth_getLogs: () => [log(2)], eth_getTransactionReceipt: () => receipt(2) });
    const [, second] = await scan(call, 1, 3);
    expect(second?.deposits).toEqual([expect.objectContaining({ position: '2', amount: 123n, blockNumber: 2 })]);
  });

  it('requests a block again by its hash when its bloom filter indicates a transfer that the range did not return', async () => {
    const { call } = node({
      eth_getBlockByNumber: ([number]) => block(Number(number), Number(number) === 2 ? everyBit : noBit),
      eth_getLogs: ([filter]) => ((filter as { blockHash?: string }).blockHash === hashOf(2) ? [log(2)] : []),
      eth_getTransactionReceipt: () => receipt(2),
    });
    expect((await scan(call, 1, 3)).flatMap(({ deposits }) => deposits)).toHaveLength(1);
  });

  it.each([
    ['another contract', { address: stranger }],
    ['no amount', { data: pad('0x0') }],
    ['an indexed amount (ERC-721)', { topics: [...log(2).topics, pad('0x1')], data: '0x' }],
    ['a removed log', { removed: true }],
    ['a block that was not scanned', { blockHash: hashOf(77) }],
    ['a transfer to oneself', { topics: [transferTopic, pad(ours as '0x'), pad(ours as '0x')] }],
  ])('is not taken in by %s', async (_, changes) => {
    const { call } = node({ eth_getLogs: () => [log(2, changes)] });
    expect((await scan(call, 1, 3)).flatMap(({ deposits }) => deposits)).toEqual([]);
  });

  it('ends at a block that is missing or does not follow its predecessor', async () => {
    const missing = node({ eth_getBlockByNumber: ([number]) => (Number(number) > 2 ? null : block(Number(number))) });
    expect(await scan(missing.call, 1, 5)).toHaveLength(2);
    const torn = node({
      eth_getBlockByNumber: ([number]) => ({ ...block(Number(number)), ...(Number(number) === 3 && { parentHash: hashOf(88) }) }),
    });
    expect(await scan(torn.call, 1, 5)).toHaveLength(2);
  });

  it.each([
    [0, [5, 15]],
    [150, [5, 6, 6, 3]],
    [400, [5, 2, 2, 2, 2, 2, 2, 2, 1]],
    [3_000, [5, ...Array.from({ length: 15 }, () => 1)]],
  ])('asks for few blocks at a time that have %d transactions each', async (transactions, expected) => {
    const atOnce: number[] = [];
    const { call } = node({
      eth_getBlockByNumber: ([number, full]) => ({
        ...block(Number(number)),
        ...(full === true && { transactions: Array.from({ length: transactions }, () => paying) }),
      }),
      trace_block: () => [{ type: 'call', action: {}, traceAddress: [] }],
    });
    let inTurn = 0;
    const counting = ((method: string, params: unknown[]) => {
      // those of one turn of the event loop share a request
      if (method === 'eth_getBlockByNumber' && params[1] === true && (inTurn += 1) === 1)
        setImmediate(() => {
          atOnce.push(inTurn);
          inTurn = 0;
        });
      return call<unknown>(method, params).then(async (answer) => {
        for (let turn = 0; turn < 2; turn += 1) await nextTurn();
        return answer;
      });
    }) as RpcCall;
    const blocks = await scan(counting, 1, 20);
    expect(blocks.map(({ number }) => number)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
    expect(blocks.every((it) => it.transactions.length === transactions)).toBe(true);
    expect(atOnce).toEqual(expected);
  });

  it('of each range gives what it would give if all of its blocks were asked for at once', async () => {
    const all = Array.from({ length: 20 }, (_, index) => index + 1);
    for (const transactions of [0, 400])
      for (const broken of [...all, 21])
        for (const fault of ['missing', 'torn'] as const) {
          const { call, asked } = node({
            eth_getBlockByNumber: ([number, full]) => {
              const isBroken = Number(number) === broken;
              if (isBroken && fault === 'missing') return null;
              const parentHash = isBroken ? hashOf(88) : hashOf(Number(number) - 1);
              const paid = full === true ? Array.from({ length: transactions }, () => paying) : [];
              return { ...block(Number(number)), parentHash, transactions: paid };
            },
            trace_block: () => [{ type: 'call', action: {}, traceAddress: [] }],
          });
          const blocks = await scan(call, 1, 20);
          // the first has none to follow within the range
          const expected = broken === 1 && fault === 'torn' ? all : all.filter((number) => number < broken);
          expect(blocks.map(({ number }) => number)).toEqual(expected);
          const numbers = asked.flatMap(([method, [number, full]]) =>
            method === 'eth_getBlockByNumber' && full === true ? [Number(number)] : [],
          );
          // none twice, none left out
          expect(numbers).toEqual(all.slice(0, numbers.length));
        }
  });

  it('is discarded when the last block was replaced meanwhile', async () => {
    const { call } = node({
      eth_getBlockByNumber: ([number, full]) => ({ ...block(Number(number)), ...(full === false && { hash: hashOf(99) }) }),
    });
    await expect(scan(call, 1, 3)).rejects.toMatchObject({ code: 'chain_unavailable' });
  });

  it('is discarded when a receipt of a deposit is missing or of another block', async () => {
    for (const answer of [null, receipt(7)]) {
      const { call } = node({ eth_getLogs: () => [log(2)], eth_getTransactionReceipt: () => answer });
      await expect(scan(call, 1, 3)).rejects.toMatchObject({ code: 'chain_unavailable' });
    }
  });

  const untracing = { ...chain, requiresTraces: undefined } as unknown as ChainDefinition;

  it('tries trace_block once where it is missing, and again after a while', async () => {
    const facts = new Map<string, unknown>();
    const without = node(missing);
    const asked = () => without.asked.filter(([method]) => method === 'trace_block').length;
    await scan(without.call, 1, 1, facts, untracing);
    await scan(without.call, 2, 2, facts, untracing);
    expect(asked()).toBe(1);
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate'], now: Date.now() + 11 * 60_000 });
    await scan(without.call, 3, 3, facts, untracing).finally(() => jest.useRealTimers());
    expect(asked()).toBe(2);
  });

  it('takes it for a fault that an endpoint does not trace any more: for ten minutes, or as long as that lasts where the chain requires traces', async () => {
    for (const [on, later] of [
      [untracing, { untraced: { from: 1, to: 1 } }],
      [chain, 'traces_missing'],
    ] as const) {
      const worked = new Map<string, unknown>([['trace_block', true]]);
      const { call } = node(missing);
      const run = () =>
        scanBlocks(call, on, { from: 1, to: 1 }, () => Promise.resolve(new Set()), worked).catch(
          (error: unknown) => (error as EndpointFault).alert,
        );
      expect(await run()).toBe('traces_missing');
      jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate'], now: Date.now() + 9 * 60_000 });
      expect(await run()).toBe('traces_missing');
      jest.setSystemTime(Date.now() + 2 * 60_000);
      const outcome = await run().finally(() => jest.useRealTimers());
      if (typeof later === 'string') expect(outcome).toBe(later);
      else expect(outcome).toMatchObject(later);
    }
  });

  it('is discarded where an endpoint has traced some blocks of a range and denies the method for others', async () => {
    const { call } = node({
      trace_block: ([number]) => (Number(number) === 2 ? missing.trace_block() : []),
    });
    const facts = new Map<string, unknown>();
    await expect(scan(call, 1, 3, facts, untracing)).rejects.toMatchObject({ alert: 'traces_missing' });
    await expect(scan(call, 1, 3, facts, untracing)).rejects.toMatchObject({ alert: 'traces_missing' });
  });

  it('on a chain that requires traces, ends at an endpoint without them', async () => {
    const { call } = node(missing);
    expect(chain.requiresTraces).toBe(true);
    await expect(scan(call, 1, 1)).rejects.toMatchObject({ name: 'EndpointFault', alert: 'traces_missing' });
  });

  it.each([
    ['the method', -32601, 'whatever'],
    ['the method (Besu)', -32604, 'Method not enabled'],
    ['the method (Alchemy)', -32600, 'Unsupported method: trace_block on arb'],
    [
      'the method (Alchemy)',
      -32600,
      'trace_block is not available on the Free tier - upgrade to Pay As You Go, or Enterprise for access.',
    ],
    ['the method (proxyd of OP Labs)', -32001, 'rpc method is not whitelisted'],
    ['the method (EIP-1474)', -32004, 'Method not supported'],
    ['the method (EIP-1474)', -32004, 'the method trace_block is not supported'],
    ['the method (Infura)', -32000, 'the method trace_block does not exist/is not available'],
    ['the method (1RPC)', -32600, 'Method trace_block not allowed'],
    ['the method (dRPC)', 35, 'method is not available on freetier, please upgrade to paid tier'],
  ])('takes an endpoint for one without traces that lacks %s: %d %s', async (_, code, message) => {
    const { call } = node({ trace_block: () => Promise.reject(new NodeRefusal(code, message)) });
    // with the status of a failure too, where it names the call
    const doubtful = node({
      trace_block: () => Promise.reject(new DoubtfulRefusal('no result (HTTP 403)', new NodeRefusal(code, message))),
    });
    for (const asked of [call, doubtful.call]) {
      const { untraced } = await scanBlocks(asked, untracing, { from: 1, to: 1 }, () => Promise.resolve(new Set()), new Map());
      expect(untraced).toEqual({ from: 1, to: 1 });
    }
  });

  it.each<[string, () => unknown]>([
    ['a limit', () => Promise.reject(new NodeRefusal(-32005, 'limit exceeded'))],
    ['a lost state', () => Promise.reject(new NodeRefusal(-32000, 'historical state is not available'))],
    ['a time-out of the node', () => Promise.reject(new NodeRefusal(-32000, 'execution timeout'))],
    [
      'a method that is away for now',
      () => Promise.reject(new NodeRefusal(-32000, 'method trace_block is not available right now')),
    ],
    [
      'the same as an invalid request',
      () => Promise.reject(new NodeRefusal(-32600, 'method trace_block is not allowed at this rate')),
    ],
    ['a code that has several meanings', () => Promise.reject(new NodeRefusal(-32004, 'block not available'))],
    ['the same', () => Promise.reject(new NodeRefusal(-32004, 'method trace_block is not available right now'))],
    ['a chain that is not granted', () => Promise.reject(new NodeRefusal(35, 'chain is not available on freetier'))],
    [
      'a failure that names the call',
      () => Promise.reject(new DoubtfulRefusal('no result (HTTP 503)', new NodeRefusal(-32000, 'backend is away'))),
    ],
    ['another one', () => Promise.reject(new NodeRefusal(-32604, 'Record not found'))],
    ['an invalid request', () => Promise.reject(new NodeRefusal(-32600, 'Invalid Request'))],
    ['no answer', () => Promise.reject(new Error('no response in time'))],
    ['null', () => null],
    ['no trace of a block with transactions', () => []],
  ])('is discarded, and the endpoint not taken for one without traces, after %s', async (_, answer) => {
    const { call } = node({
      trace_block: answer,
      eth_getBlockByNumber: ([number]) => ({ ...block(Number(number)), transactions: [paying] }),
    });
    const facts = new Map<string, unknown>();
    for (const where of [chain, untracing]) {
      const refused: unknown = await scan(call, 1, 1, facts, where).catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(Error);
      expect(refused).not.toBeInstanceOf(NodeRefusal);
    }
    expect(facts.get('trace_block')).toBeUndefined();
  });

  it('counts value of internal calls, but not of reverted ones', async () => {
    const inner = (traceAddress: number[], changes: object = {}, action: object = {}) => ({
      type: 'call',
      action: { callType: 'call', from: stranger, to: ours, value: '0x1', ...action },
      traceAddress,
      transactionHash: hashOf(901),
      ...changes,
    });
    const traces = [
      inner([], {}, { to: usdc }),
      inner([0]),
      inner([1], { error: 'Reverted' }),
      inner([1, 0]),
      inner([2], {}, { callType: 'delegatecall' }),
      inner([3], { type: 'suicide' }, { address: stranger, refundAddress: ours, balance: '0x2' }),
    ];
    const { call } = node({ trace_block: () => traces, eth_getTransactionReceipt: () => receipt(1) });
    const [only] = await scan(call, 1, 1);
    expect(only?.deposits.map(({ position, amount }) => [position, amount])).toEqual([
      ['1000001', 1n],
      ['1000005', 2n],
    ]);
  });
});
