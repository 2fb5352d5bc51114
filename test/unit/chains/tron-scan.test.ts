import { parseAddress } from '../../../dev/tron/address';
import type { TronChainClient } from '../../../src/chains/tron/client';
import { readFields } from '../../../src/chains/tron/codec/fields';
import { readForeign } from '../../../src/chains/tron/foreign';
import { readBlock, readReceipt, type Receipt } from '../../../src/chains/tron/answers';
import { readConstantCall } from '../../../src/chains/tron/constant-call';
import { readParameters } from '../../../src/chains/tron/parameters';
import { showsSaving } from '../../../src/chains/tron/internal';
import { Paces } from '../../../src/chains/request-rate';
import { TronNode } from '../../../src/chains/tron/node';
import { scanAtAny, scanBlocks } from '../../../src/chains/tron/scan';
import { EndpointList } from '../../../src/chains/endpoints';
import { connectTron, makeTron, payTron, tronDefinition } from '../../tron-client';
import { type Holder, TestChain, transferData, trx, usdt } from '../../tron-simulator';

let chain: TestChain;
let client: TronChainClient;
let alice: Holder;
let bob: Holder;
const token = parseAddress(usdt);
const keyOf = ({ bytes }: Holder): string => bytes.toString('hex');
const oursAre =
  (...holders: Holder[]) =>
  (keys: string[]) =>
    Promise.resolve(new Set(keys.filter((key) => holders.some((holder) => keyOf(holder) === key))));
const mine = (blocks = 1) => chain.control('mine', { blocks });
const solidify = () => mine(19);
const head = async (): Promise<number> => (await chain.control('status')).head;

beforeAll(async () => {
  chain = await TestChain.start();
  client = connectTron(chain);
  alice = await chain.funded(trx(10_000), 1_000_000_000n);
  bob = await chain.funded(trx(1_000));
  await solidify();
});
afterEach(() => chain.control('heal'));
afterAll(() => TestChain.stopAll());

test('deposits of TRX and of registered tokens, and what the gateway’s own addresses have signed', async () => {
  const before = await head();
  const made = await makeTron(client, alice, payTron(alice, bob.address, trx(2)));
  await client.broadcast(made.bytes);
  const moved = await chain.include(chain.call(alice, token, transferData(bob, 7n)), alice);
  await chain.include(chain.call(bob, token, transferData(bob, 2n)), bob);
  const failed = await chain.include(chain.call(alice, token, transferData(bob, 10n ** 18n)), alice);
  const back = await chain.include(chain.transfer(bob, alice, 3n), bob);
  expect(failed.receipt.result).toBe('REVERT');
  await solidify();

  const { blocks, scannedTo } = await client.scan(before + 1, before + 4, oursAre(bob));
  expect(scannedTo).toBe(before + 4);
  expect(blocks.map(({ number }) => number)).toEqual([1, 2, 3, 4].map((step) => before + step));
  blocks.slice(1).forEach(({ parentHash }, index) => expect(parentHash).toBe(blocks[index]?.hash));
  const [first, , second, third] = blocks;
  const common = { fromAddress: alice.address, toAddress: bob.address };
  expect(blocks.flatMap(({ deposits }) => deposits)).toEqual([
    {
      ...{ txHash: made.id, position: '0', tokenContract: null, amount: trx(2), ...common },
      ...{ blockNumber: first?.number, blockHash: first?.hash },
    },
    {
      ...{ txHash: moved.id, position: '1', tokenContract: usdt, amount: 7n, ...common },
      ...{ blockNumber: first?.number, blockHash: first?.hash },
    },
  ]);
  expect(second?.transactions).toEqual([{ id: failed.id, messageKey: null }]);
  expect(third?.transactions).toEqual([{ id: back.id, messageKey: back.id }]);

  const [again] = (await client.scan(before + 1, before + 1, oursAre(alice))).blocks;
  expect(again?.deposits).toEqual([]);
  expect(again?.transactions).toEqual([made.id, moved.id].map((id) => ({ id, messageKey: id })));
  expect(await client.block(before + 1)).toEqual({ number: before + 1, hash: first?.hash, parentHash: first?.parentHash });
});

test('what is not solidified is not there', async () => {
  const { number } = await client.head();
  expect(number).toBe((await head()) - 19);
  expect(await client.block(number + 1)).toBeNull();
  expect(await client.scan(number + 1, number + 3, oursAre(bob))).toEqual({ blocks: [], scannedTo: number });
  expect((await client.scan(number - 25, number + 5, oursAre())).scannedTo).toBe(number);
  expect(() => client.scan(5, 60, oursAre())).toThrow(RangeError);
});

const forward = (forwarder: Holder, amount: bigint) => chain.forward(alice, forwarder, keyOf(bob), amount);

test('TRX that a contract sends on', async () => {
  const splitter = await chain.newForwarder();
  const before = await head();
  const sent = await forward(splitter, 5_000n);
  await solidify();
  expect(sent.receipt.result).toBe('SUCCESS');
  const { blocks } = await client.scan(before + 1, before + 1, oursAre(bob));
  expect(blocks[0]?.deposits).toEqual([
    expect.objectContaining({
      ...{ txHash: sent.id, position: '1000000', tokenContract: null, amount: 5_000n },
      ...{ fromAddress: splitter.address, toAddress: bob.address },
    }),
  ]);
});

describe('an endpoint without internal transactions', () => {
  /** Where a contract has called the token, which has logged it; the next block has a contract that sends TRX on and logs nothing. */
  let logged: number;
  let plain: number;
  let relay: Holder;
  let forwarder: Holder;
  const bare = () => chain.control('endpoint', { name: 'bare', lie: 'internal' });
  const scan = async (scanned: TronChainClient, from: number, to = from) => {
    const { blocks, scannedTo, untraced } = await scanned.scan(from, to, oursAre(bob));
    return {
      paid: blocks.flatMap(({ deposits }) => deposits.map(({ amount }) => amount)),
      ...(untraced && { untraced }),
      // of what was asked for
      ...(scannedTo < to && { waits: scannedTo + 1 }),
    };
  };
  const asked = async (name: string): Promise<number> => (await chain.control('status')).faults.requests[name].all;
  const missing = { code: 'chain_unavailable', cause: { name: 'EndpointFault', alert: 'traces_missing' } };
  /** In a block of its own, whose number it returns: a contract calls the token, which logs it. */
  const callLogging = async (amount: bigint): Promise<number> => {
    await chain.include(chain.call(alice, relay.bytes, transferData(bob, amount)), alice);
    return head();
  };
  const callForwarding = async (amount: bigint): Promise<number> => {
    await forward(forwarder, amount);
    return head();
  };
  /** So many without calls, for what is before not to be within reach. */
  const pass = (blocks = 10) => mine(blocks);

  beforeAll(async () => {
    [relay, forwarder] = [await chain.newRelay(token), await chain.newForwarder()];
    await chain.control('faucet', { address: relay.address, amount: '1000', token: 'USDT' });
    logged = await callLogging(3n);
    plain = await callForwarding(5_000n);
    await mine();
    await solidify();
  });
  beforeEach(bare);

  test('is passed over for one that has them, by what another contract has logged', async () => {
    expect(await scan(connectTron(chain, ['bare', 'saving']), logged, plain)).toEqual({ paid: [3n, 5_000n] });
  });

  test('is passed over by the blocks before, where those of the scan do not show it', async () => {
    const two = connectTron(chain, ['bare', 'saving']);
    expect(await scan(two, plain)).toEqual({ paid: [5_000n] });
    const before = await asked('bare');
    expect(await scan(two, plain)).toEqual({ paid: [5_000n] });
    expect(await asked('bare')).toBe(before);
  });

  test('stops the scan, without further requests for what is known, until it has them', async () => {
    const one = connectTron(chain, ['bare']);
    await expect(scan(one, plain)).rejects.toMatchObject(missing);
    const before = await asked('bare');
    await expect(scan(one, plain)).rejects.toMatchObject(missing);
    expect((await asked('bare')) - before).toBe(2);
    // nothing is lost in a block where no contract was called
    expect(await scan(one, plain + 1)).toEqual({ paid: [] });
    await chain.control('heal');
    expect(await scan(one, plain)).toEqual({ paid: [5_000n] });
  });

  test('that has had them is believed in nothing once a block lacks them', async () => {
    const one = connectTron(chain, ['other']);
    expect(await scan(one, plain)).toEqual({ paid: [5_000n] });
    await chain.control('endpoint', { name: 'other', lie: 'internal' });
    await expect(scan(one, logged)).rejects.toMatchObject(missing);
    await expect(scan(one, plain)).rejects.toMatchObject(missing);
  });

  test('that was restarted without them loses no payment before a block shows it: each waits for one that does', async () => {
    await pass();
    const shown = await callForwarding(1n);
    const lieFrom = shown + 1;
    await chain.control('endpoint', { name: 'restarted', lie: 'internal', lieFrom });
    const [first, second, lacking] = [await callForwarding(2n), await callForwarding(3n), await callLogging(4n)];
    await mine(18);
    const one = connectTron(chain, ['restarted']);
    expect(await scan(one, shown, second)).toEqual({ paid: [1n], waits: first });
    // nor does one that was started anew believe what it has not seen
    expect(await scan(connectTron(chain, ['restarted']), first, second)).toEqual({ paid: [], waits: first });
    await mine();
    await expect(scan(one, first, second)).rejects.toMatchObject(missing);
    await expect(scan(connectTron(chain, ['restarted']), first, lacking)).rejects.toMatchObject(missing);
    expect(await scan(connectTron(chain, ['restarted', 'saving']), first, lacking)).toEqual({ paid: [2n, 3n, 4n] });
  });

  test('that was restarted with them is not believed about the blocks before', async () => {
    await pass();
    const lacking = await callLogging(1n);
    const between = await callForwarding(2n);
    await chain.control('endpoint', { name: 'restarted', lie: 'internal', lieTo: between });
    const shown = await callLogging(3n);
    await solidify();
    const one = connectTron(chain, ['restarted']);
    expect(await scan(one, shown)).toEqual({ paid: [3n] });
    await expect(scan(one, between, shown)).rejects.toMatchObject(missing);
    expect(await scan(connectTron(chain, ['restarted', 'saving']), lacking, shown)).toEqual({ paid: [1n, 2n, 3n] });
  });

  test('is not seen where no block around shows it: ten later ones are waited for, then what may be missing is told', async () => {
    await pass();
    const quiet = await callForwarding(7n);
    await solidify();
    const one = connectTron(chain, ['bare']);
    expect(await scan(one, quiet - 1, quiet)).toEqual({ paid: [], waits: quiet });
    await mine(9);
    expect(await scan(one, quiet, quiet + 5)).toEqual({ paid: [], waits: quiet });
    await mine();
    const requests = async () => {
      const before = await asked('bare');
      expect(await scan(one, quiet, quiet + 5)).toEqual({ paid: [], untraced: { from: quiet, to: quiet } });
      return (await asked('bare')) - before;
    };
    // the blocks and their calls; the first time the head and the tenth block too, and all that is around once what was seen is old
    expect([await requests(), await requests()]).toEqual([2 + 2, 2]);
    await chain.control('mine', { blocks: 20, skip_ms: 10 * 60_000 });
    expect(await requests()).toBeGreaterThan(2 + 10);
  });

  test('is not asked alone where nothing around shows it: another one may show the payment', async () => {
    await pass();
    await chain.control('endpoint', { name: 'behind', stopped: true });
    await chain.control('endpoint', { name: 'down', down: true });
    await chain.control('endpoint', { name: 'bare2', lie: 'internal' });
    const quiet = await callForwarding(7n);
    await solidify();
    await mine(10);
    expect(await scan(connectTron(chain, ['bare', 'saving']), quiet)).toEqual({ paid: [7n] });
    const others = connectTron(chain, ['bare', 'behind', 'down', 'bare2']);
    expect(await scan(others, quiet)).toEqual({ paid: [], untraced: { from: quiet, to: quiet } });
  });

  test('a payment that one of them shows is taken from that one, also where a later block of the range is shown by none', async () => {
    const idler = await chain.contract('00');
    await pass();
    const paid = await callForwarding(7n);
    await pass(11);
    await chain.include(chain.call(alice, idler.bytes, '', {}, 2n), alice);
    const idle = await head();
    await pass();
    await solidify();
    const two = connectTron(chain, ['bare', 'saving']);
    expect(await scan(two, paid, idle)).toEqual({ paid: [7n], waits: idle });
    expect(await scan(two, idle)).toEqual({ paid: [], untraced: { from: idle, to: idle } });
    expect(await scan(connectTron(chain, ['bare']), paid, idle)).toEqual({ paid: [], untraced: { from: paid, to: idle } });
  });

  test('one that hangs is not waited for once another one has answered', async () => {
    const found = { blocks: [], scannedTo: 5, untraced: { from: 5, to: 5 } };
    const endpoint = (host: string) => ({ host, identify: () => Promise.resolve() }) as TronNode;
    const endpoints = new EndpointList(tronDefinition(), [endpoint('answers'), endpoint('hangs')]);
    const scanned = scanAtAny(endpoints, ({ host }) =>
      host === 'answers' ? Promise.resolve(found) : new Promise(() => undefined),
    );
    expect(await scanned).toEqual(found);
  }, 10_000);

  test('is not told of where tokens of the registry alone were called: they pass nothing on', async () => {
    await pass();
    const called = (await head()) + 1;
    await chain.include(chain.call(alice, token, transferData(bob, 9n)), alice);
    await solidify();
    expect(await scan(connectTron(chain, ['bare']), called)).toEqual({ paid: [9n] });
  });

  test('is told where the chain does not require them', async () => {
    const one = connectTron(chain, ['bare'], { requiresTraces: undefined as unknown as boolean });
    expect(await scan(one, logged, plain)).toEqual({ paid: [3n], untraced: { from: logged, to: logged } });
    expect(await scan(one, plain)).toEqual({ paid: [] });
  });

  test('one that has them is asked for nothing further', async () => {
    const one = connectTron(chain, ['saving']);
    await scan(one, logged, plain);
    const before = await asked('saving');
    await scan(one, logged, plain);
    expect((await asked('saving')) - before).toBe(3);
  });

  test('one that has them before and after a block without any is asked for nothing further, and waits for nothing', async () => {
    await pass();
    // it calls nothing and logs nothing
    const idler = await chain.contract('00');
    const before = await callForwarding(1n);
    await chain.include(chain.call(alice, idler.bytes, '', {}, 2n), alice);
    await pass(7);
    const after = await callForwarding(3n);
    await solidify();
    const one = connectTron(chain, ['saving']);
    expect(await scan(one, before, after)).toEqual({ paid: [1n, 3n] });
    const requests = await asked('saving');
    expect(await scan(one, before, after)).toEqual({ paid: [1n, 3n] });
    expect((await asked('saving')) - requests).toBe(1 + 3);
    // what is around is looked up by one that has not scanned it
    expect(await scan(connectTron(chain, ['saving']), before + 1)).toEqual({ paid: [] });
  });

  test('what the called contract has logged itself, or a receipt that names none, shows nothing', async () => {
    const node = new TronNode(tronDefinition(), `${chain.url}?rate=1000`, 1, Date.now, new Paces());
    const [receipt] = (await node.receipts(logged)) as [Receipt];
    const without = { ...receipt, hasInternal: false };
    expect([receipt, without].map((shown) => showsSaving([shown]))).toEqual([true, false]);
    expect(showsSaving([{ ...without, contract: null }])).toBeNull();
    expect(showsSaving([{ ...without, contract: receipt.logs[0]?.contract ?? null }])).toBeNull();
    expect(showsSaving([receipt, without])).toBe(false);
  });
});

test.each(['absent', 'height', 'amount'] as const)(
  'an endpoint that lies about transactions (%s) credits nothing false',
  async (lie) => {
    const before = await head();
    const paid = await chain.include(chain.transfer(alice, bob, 11n), alice);
    await solidify();
    await chain.control('endpoint', { name: 'liar', lie });
    const scanned = connectTron(chain, ['liar', 'honest']).scan(before + 1, before + 1, oursAre(bob));
    const deposits = (await scanned).blocks.flatMap((block) => block.deposits);
    expect(deposits).toEqual([expect.objectContaining({ txHash: paid.id, amount: 11n })]);
  },
);

test('a failed look-up of addresses is not the endpoint’s fault', async () => {
  const broken = () => Promise.reject(new Error('no database'));
  const number = (await head()) - 19;
  await chain.include(chain.transfer(alice, bob, 11n), alice);
  await solidify();
  await expect(client.scan(number, number + 19, broken)).rejects.toMatchObject({ code: 'unavailable' });
});

test('a receipt that contradicts its block credits nothing', async () => {
  const before = await head();
  const paid = await chain.include(chain.call(alice, token, transferData(bob, 3n)), alice);
  await solidify();
  const url = `${chain.url}?rate=1000`;
  const node = new TronNode(tronDefinition(), url, 1, Date.now, new Paces());
  const scan = () => scanBlocks(node, tronDefinition(), { from: before + 1, to: before + 1 }, oursAre(bob));
  expect((await scan()).blocks[0]?.deposits).toHaveLength(1);
  const [receipt] = await node.receipts(before + 1);
  const shown = jest.spyOn(node, 'receipts').mockResolvedValueOnce([{ ...(receipt as Receipt), success: false }]);
  expect((await scan()).blocks[0]?.deposits).toEqual([]);
  shown.mockResolvedValueOnce([{ ...(receipt as Receipt), blockNumber: before }]);
  await expect(scan()).rejects.toThrow('a receipt of a solidified block is missing');
  expect(receipt?.id).toBe(paid.id);
});

describe('transactions of others', () => {
  const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');

  test('are read as the network reads them', () => {
    expect([readFields(hex('0801 0802')).number(1), readFields(hex('0a01aa 0a01bb')).bytes(1).toString('hex')]).toEqual([
      2n,
      'bb',
    ]);
    // -1, a fixed field of eight bytes, one of four
    expect(readFields(hex('08ffffffffffffffffff01 11 0000000000000000 1d 00000000 2005')).number(4)).toBe(5n);
    // an unknown group holds fields of its own
    expect(readFields(hex('1803 a306 1863 a406')).number(3)).toBe(3n);
    expect(readFields(Buffer.alloc(0)).bytes(7)).toHaveLength(0);
  });

  test.each(['08', '0a05aa', '0effff', '0c', '0b', `08${'ff'.repeat(11)}`, '0aff'])('%s is nothing', (text) => {
    expect(() => readFields(hex(text))).toThrow();
    expect(readForeign(hex(text))).toBeNull();
  });
});

describe('answers of a node', () => {
  const header = (txTrieRoot: string) => ({
    blockID: `${'0'.repeat(15)}5${'a'.repeat(48)}`,
    block_header: { raw_data: { number: 5, timestamp: 7, parentHash: 'b'.repeat(64), txTrieRoot } },
  });

  test('a block whose transactions are missing or other ones is none', () => {
    expect(readBlock(header('0'.repeat(64))).transactions).toEqual([]);
    expect(() => readBlock(header('c'.repeat(64)))).toThrow('lacks its transactions');
    const transactions = [{ txID: 'd'.repeat(64), raw_data_hex: '0a00', ret: [{ contractRet: 'SUCCESS' }] }];
    expect(() => readBlock({ ...header('c'.repeat(64)), transactions })).toThrow('not the one that its id names');
    expect(() => readBlock({ ...header('0'.repeat(64)), blockID: 'a'.repeat(64) })).toThrow('the number of another one');
  });

  test('an amount that JSON numbers do not hold is read as unknown: only one of ours stops the scan', () => {
    const [from, to] = ['41'.padEnd(42, '1'), '41'.padEnd(42, '2')];
    const paid = { caller_address: from, transferTo_address: to, note: Buffer.from('call').toString('hex') };
    const receipt = readReceipt({
      ...{ id: 'e'.repeat(64), blockNumber: 5 },
      internal_transactions: [{ ...paid, callValueInfo: [{ callValue: 2 ** 60 }] }] as never,
    });
    expect(receipt?.internal).toEqual([{ from, to, amount: null }]);
  });

  test.each([
    ['a node that executes no calls', 'CONTRACT_VALIDATE_ERROR', 'this node does not support constant'],
    ['a node that was too slow', 'OTHER_ERROR', 'class org.tron.core.vm.program.Program$OutOfTimeException : CPU timeout'],
  ])('%s says nothing about a call', (_, code, message) => {
    const answer = { result: { code, message: Buffer.from(message).toString('hex') } };
    expect(() => readConstantCall(answer)).toThrow('could not execute');
  });

  test('a price that is no number is not 0', () => {
    const prices = [
      { key: 'getTransactionFee', value: 1_000 },
      { key: 'getEnergyFee', value: 100 },
      { key: 'getMaxFeeLimit', value: 15_000_000_000 },
    ];
    expect(readParameters({ chainParameter: prices })).toMatchObject({ bandwidthPrice: 1_000n, memoFee: 0n });
    for (const value of ['1000000', 1.5, 2 ** 60, -1])
      expect(() => readParameters({ chainParameter: [...prices, { key: 'getMemoFee', value }] })).toThrow();
  });

  test('internal transactions that pay nothing, or in other tokens, are left out', () => {
    const [from, to] = ['41'.padEnd(42, '1'), '41'.padEnd(42, '2')];
    const internal = (note: string, more: object = {}, value: object = { callValue: 5 }) => ({
      ...{ caller_address: from, transferTo_address: to, callValueInfo: [value], note: Buffer.from(note).toString('hex') },
      ...more,
    });
    const receipt = readReceipt({
      ...{ id: 'e'.repeat(64), blockNumber: 5 },
      internal_transactions: [
        internal('call'),
        internal('suicide'),
        internal('delegateResourceOfEnergy'),
        internal('call', { rejected: true }),
        internal('call', {}, { callValue: Number.MAX_VALUE, tokenId: '1000001' }),
        internal('call', {}, {}),
        internal('call', { transferTo_address: '' }),
      ] as never,
    });
    expect(receipt?.internal).toEqual([5n, 5n].map((amount) => ({ from, to, amount })));
  });
});
