import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { until } from '../../../dev/processes';
import { parseAddress } from '../../../dev/tron/address';
import { type Holder, newHolder, signed, TestChain, transferData, trx, usdt } from '../../tron-simulator';

let chain: TestChain;
let alice: Holder;
let bob: Holder;
const token = parseAddress(usdt);
const lag = 19;

beforeEach(async () => {
  chain = await TestChain.start();
  alice = await chain.funded(trx(1_000), 5_000_000n);
  bob = await chain.funded(trx(1));
});
afterEach(() => TestChain.stopAll());

const status = () => chain.control('status');
const infoOf = (txid: string, tree = 'wallet') => chain.post(`/${tree}/gettransactioninfobyid`, { value: txid });

describe('tronweb', () => {
  const transfer = [
    { type: 'address', value: '' },
    { type: 'uint256', value: 1_000_000 },
  ];

  test('builds, signs, sends and reads a transfer of TRX', async () => {
    const tronWeb = chain.tronWeb(alice);
    const { transaction, txid } = await tronWeb.trx.sendTransaction(bob.address, 7_000_000);
    expect(txid).toBe(transaction.txID);
    await chain.control('mine');

    expect(await tronWeb.trx.getTransaction(txid)).toMatchObject({
      txID: txid,
      raw_data_hex: transaction.raw_data_hex,
      ret: [{ contractRet: 'SUCCESS' }],
    });
    expect(await tronWeb.trx.getUnconfirmedTransactionInfo(txid)).toMatchObject({
      id: txid,
      blockNumber: (await status()).head,
      receipt: { net_usage: expect.any(Number) },
    });
    expect(await tronWeb.trx.getUnconfirmedBalance(bob.address)).toBe(8_000_000);
    const block = await tronWeb.trx.getBlock((await status()).head);
    expect(block.transactions?.map((entry) => entry.txID)).toEqual([txid]);
  });

  test('sends a token; the event is in the receipt, and balanceOf tells the same', async () => {
    const tronWeb = chain.tronWeb(alice);
    const parameters = [{ ...transfer[0], value: bob.address }, { ...transfer[1] }] as never;
    const estimated = await tronWeb.transactionBuilder.triggerConstantContract(usdt, 'transfer(address,uint256)', {}, parameters);
    const local = { feeLimit: 10_000_000, txLocal: true };
    const built = await tronWeb.transactionBuilder.triggerSmartContract(usdt, 'transfer(address,uint256)', local, parameters);
    const sent = await tronWeb.trx.sendRawTransaction(await tronWeb.trx.sign(built.transaction));
    expect(sent.result).toBe(true);
    await chain.control('mine');

    const info = await tronWeb.trx.getUnconfirmedTransactionInfo(built.transaction.txID);
    expect(info.receipt).toMatchObject({ result: 'SUCCESS', energy_usage_total: estimated.energy_used });
    expect(info.log).toEqual([
      {
        address: token.subarray(1).toString('hex'),
        topics: [
          'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
          alice.bytes.subarray(1).toString('hex').padStart(64, '0'),
          bob.bytes.subarray(1).toString('hex').padStart(64, '0'),
        ],
        data: (1_000_000).toString(16).padStart(64, '0'),
      },
    ]);
    const contract = await tronWeb.contract().at(usdt);
    expect(await contract.balanceOf?.(bob.address).call()).toBe(1_000_000n);
  });

  test('takes what the node builds, with a memo', async () => {
    const tronWeb = chain.tronWeb(alice);
    const request = { owner_address: alice.address, to_address: bob.address, amount: 1, visible: true, extra_data: 'note' };
    const built = await chain.post('/wallet/createtransaction', request);
    expect(built.raw_data.data).toBe(Buffer.from('note').toString('hex'));
    expect(await tronWeb.trx.sendRawTransaction(await tronWeb.trx.sign(built))).toMatchObject({ result: true, txid: built.txID });
    await chain.control('mine');
    expect((await infoOf(built.txID)).fee).toBe(1_000_000);
  });

  test('a changed raw_data, whatever raw_data_hex says, is no longer what was signed', async () => {
    const tronWeb = chain.tronWeb(alice);
    const transaction = await tronWeb.trx.sign(await tronWeb.transactionBuilder.sendTrx(bob.address, 1, alice.address));
    const [contract] = transaction.raw_data.contract;
    const changed = structuredClone({ ...transaction, raw_data: { ...transaction.raw_data, contract: [contract] } });
    (changed.raw_data.contract[0] as { parameter: { value: { amount: number } } }).parameter.value.amount = 2;
    const answer = await chain.post('/wallet/broadcasttransaction', changed);
    expect(answer).toMatchObject({ code: 'SIGERROR' });
    expect(Buffer.from(answer.message, 'hex').toString()).toContain('but it is not contained of permission.');
  });
});

describe('fees', () => {
  const send = (sender = alice, amount = trx(1), changes = {}, to = bob) =>
    chain.include(chain.transfer(sender, to, amount, changes), sender);

  test('free bytes of the day, then 1,000 sun a byte; the bytes come back', async () => {
    const carol = await chain.funded(trx(100));
    const first = await send(carol, trx(5));
    const bytes = first.receipt.net_usage;
    await send(carol, trx(6));
    expect(await send(carol, trx(7))).toMatchObject({ fee: bytes * 1_000, receipt: { net_fee: bytes * 1_000 } });
    await chain.control('mine', { skip_ms: 86_400_000 });
    expect((await send(carol, trx(8))).receipt).toEqual({ net_usage: bytes });
  });

  test('a new account: 1 TRX, and 0.1 TRX unless bandwidth is staked for', async () => {
    expect(await send(alice, trx(5), {}, newHolder())).toMatchObject({ fee: 1_100_000, receipt: { net_fee: 100_000 } });
    await chain.control('resources', { address: alice.address, bandwidth: '5000' });
    const staked = await send(alice, trx(6), {}, newHolder());
    expect(staked).toMatchObject({ fee: 1_000_000, receipt: { net_usage: expect.any(Number) } });
  });

  test('energy that is staked for comes first', async () => {
    await chain.control('resources', { address: alice.address, energy: '20000' });
    const { receipt } = await chain.include(chain.call(alice, token, transferData(bob, 1n)), alice);
    expect(receipt).toMatchObject({ energy_usage: 20_000, energy_fee: (receipt.energy_usage_total - 20_000) * 100 });
    const resource = await chain.post('/wallet/getaccountresource', { address: alice.address, visible: true });
    expect(resource.EnergyLimit).toBe(20_000);
    // a little of it may have come back
    expect(resource.EnergyUsed).toBeGreaterThan(19_900);
  });

  test('energy that is staked for suffices where TRX does not', async () => {
    const carol = await chain.funded(trx(1), 5n);
    const send = () => chain.include(chain.call(carol, token, transferData(bob, 1n)), carol);
    expect((await send()).receipt).toMatchObject({ result: 'OUT_OF_ENERGY', energy_usage_total: 10_000 });
    await chain.control('resources', { address: carol.address, energy: '50000', bandwidth: '5000' });
    await chain.control('mine', { skip_ms: 1_000 });
    const { receipt } = await send();
    expect(receipt).toMatchObject({ result: 'SUCCESS', energy_usage: receipt.energy_usage_total });
  });

  test('a fee limit that is too low: out of energy, all of it is paid, and nothing moves', async () => {
    const transaction = chain.call(alice, token, transferData(bob, 1n), { fee_limit: 1_000_000n });
    const info = await chain.include(transaction, alice);
    expect(info).toMatchObject({
      result: 'FAILED',
      receipt: { result: 'OUT_OF_ENERGY', energy_usage_total: 10_000, energy_fee: 1_000_000 },
    });
    expect(Buffer.from(info.resMessage, 'hex').toString()).toContain('Not enough energy for');
    expect(info.log).toBeUndefined();
    const shown = await chain.post('/wallet/gettransactionbyid', { value: info.id });
    expect(shown.ret).toEqual([{ contractRet: 'OUT_OF_ENERGY' }]);
  });

  test('more tokens than there are: reverted, the energy used is paid', async () => {
    const info = await chain.include(chain.call(alice, token, transferData(bob, 5_000_001n)), alice);
    expect(info).toMatchObject({
      result: 'FAILED',
      receipt: { result: 'REVERT' },
      resMessage: Buffer.from('REVERT opcode executed').toString('hex'),
    });
    expect(info.receipt.energy_usage_total).toBeLessThan(10_000);
  });

  test('the penalty of a popular contract counts as energy, and against the limit', async () => {
    const before = await chain.include(chain.call(alice, token, transferData(bob, 1n)), alice);
    await chain.include(chain.call(alice, token, transferData(bob, 1n)), alice);
    const usual = await chain.include(chain.call(alice, token, transferData(bob, 2n)), alice);
    expect(usual.receipt.energy_usage_total).toBeLessThan(before.receipt.energy_usage_total);
    await chain.control('contract', { address: usdt, energyFactor: 34_000 });
    const { receipt } = await chain.include(chain.call(alice, token, transferData(bob, 3n)), alice);
    const base = usual.receipt.energy_usage_total;
    expect(receipt).toMatchObject({ energy_usage_total: Math.floor(base * 4.4), energy_penalty_total: Math.floor(base * 3.4) });
    const limit = BigInt(base * 200);
    const short = await chain.include(chain.call(alice, token, transferData(bob, 4n), { fee_limit: limit }), alice);
    expect(short.receipt).toMatchObject({ result: 'OUT_OF_ENERGY', energy_usage_total: base * 2 });
  });

  test('TRX that a contract sends on is an internal transaction', async () => {
    // sends what it gets to the address in its data
    const code = '5f5f5f5f345f355af100';
    const contract = newHolder();
    await chain.control('contract', { address: contract.address, code });
    const data = bob.bytes.subarray(1).toString('hex').padStart(64, '0');
    const transaction = chain.call(alice, contract.bytes, data, {}, trx(3));
    const info = await chain.include(transaction, alice);
    expect(info.internal_transactions).toEqual([
      {
        ...{ hash: info.id, caller_address: contract.bytes.toString('hex'), transferTo_address: bob.bytes.toString('hex') },
        ...{ callValueInfo: [{ callValue: 3_000_000 }], note: '63616c6c' },
      },
    ]);
    expect(await chain.balance(bob)).toBe(trx(4));
  });
});

describe('solidified', () => {
  test('follows the head at a distance', async () => {
    const { id } = await chain.include(chain.transfer(alice, bob, trx(1)), alice);
    await chain.control('mine', { blocks: lag - 1 });
    expect(await infoOf(id, 'walletsolidity')).toEqual({});
    expect(await chain.balance(bob, 'walletsolidity')).toBe(trx(1));
    await chain.control('mine');
    expect(await infoOf(id, 'walletsolidity')).toEqual(await infoOf(id));
    expect(await chain.balance(bob, 'walletsolidity')).toBe(trx(2));
    const { head, solidified } = await status();
    expect(head - solidified).toBe(lag);
    const { block_header } = await chain.post('/walletsolidity/getnowblock');
    expect(block_header.raw_data.number).toBe(solidified);
    expect(await chain.post('/walletsolidity/getblockbynum', { num: solidified + 1 })).toEqual({});
  });
});

describe('forks', () => {
  test('with its transactions: they are in other blocks', async () => {
    const { id, blockNumber } = await chain.include(chain.transfer(alice, bob, trx(1)), alice);
    const before = await chain.post('/wallet/getblockbynum', { num: blockNumber });
    await chain.control('mine', { blocks: 2 });
    await chain.control('fork', { depth: 3, transactions: 'keep' });
    const after = await chain.post('/wallet/getblockbynum', { num: blockNumber });
    expect(after.blockID).not.toBe(before.blockID);
    expect(after.block_header.raw_data.parentHash).toBe(before.block_header.raw_data.parentHash);
    expect((await infoOf(id)).blockNumber).toBe(blockNumber);
    expect(await chain.balance(bob)).toBe(trx(2));
  });

  test('without: they never happened, and can be sent again', async () => {
    const bytes = signed(chain.transfer(alice, bob, trx(1)), alice.key);
    const { txid } = await chain.send(bytes);
    await chain.control('mine');
    await chain.control('fork', { depth: 1, transactions: 'drop' });
    expect(await infoOf(txid)).toEqual({});
    expect(await chain.balance(bob)).toBe(trx(1));
    expect(await chain.send(bytes)).toMatchObject({ result: true });
  });

  test('one that refers to a block that is gone is not taken again', async () => {
    await chain.control('mine');
    const { id } = await chain.include(chain.transfer(alice, bob, trx(1), chain.onHead()), alice);
    await chain.control('fork', { depth: 2, transactions: 'keep' });
    expect(await infoOf(id)).toEqual({});
    expect(await chain.balance(bob)).toBe(trx(1));
  });

  test('not below what is solidified', async () => {
    await expect(chain.control('fork', { depth: lag + 10 })).rejects.toThrow('can be replaced');
  });
});

describe('faults', () => {
  const send = async (amount = trx(1)) => chain.send(signed(chain.transfer(alice, bob, amount), alice.key));

  test('dropped: accepted, never in a block, expired in the end', async () => {
    await chain.control('drop');
    const bytes = signed(chain.transfer(alice, bob, trx(1)), alice.key);
    const answer = await chain.send(bytes);
    expect(answer).toMatchObject({ result: true, code: 'SUCCESS' });
    await chain.control('mine', { blocks: 3 });
    expect(await infoOf(answer.txid)).toEqual({});
    await chain.control('mine', { skip_ms: 60_000 });
    expect(await chain.send(bytes)).toMatchObject({ code: 'TRANSACTION_EXPIRATION_ERROR' });
  });

  test('delayed: so many blocks later, unless it expires before', async () => {
    await chain.control('delay', { blocks: 2, count: 2 });
    const [first, second] = [await send(), await send(trx(2))];
    await chain.control('mine', { blocks: 2 });
    expect(await infoOf(first.txid)).toEqual({});
    await chain.control('mine');
    expect((await infoOf(first.txid)).blockNumber).toBe((await status()).head);
    expect((await infoOf(second.txid)).blockNumber).toBe((await status()).head);
  });

  test('pending when its time ends: forgotten', async () => {
    await chain.control('delay', { blocks: 2 });
    const { txid } = await send();
    await chain.control('mine', { blocks: 4, skip_ms: 60_000 });
    expect(await infoOf(txid)).toEqual({});
    expect(await chain.post('/wallet/gettransactionbyid', { value: txid })).toEqual({});
    expect((await status()).pending).toBe(0);
  });

  test('an endpoint that is down, late, or lets few requests through', async () => {
    const ask = () => chain.post('/endpoint/second/wallet/getnowblock');
    const before = await ask();
    await chain.control('endpoint', { name: 'second', stopped: true });
    await chain.control('mine', { blocks: 3 });
    expect(await ask()).toEqual(before);
    expect((await chain.post('/wallet/getnowblock')).block_header.raw_data.number).toBe(before.block_header.raw_data.number + 3);
    await chain.control('endpoint', { name: 'second', slowMs: 300 });
    const start = Date.now();
    await ask();
    expect(Date.now() - start).toBeGreaterThanOrEqual(299);
    expect((await status()).faults.requests.second.all).toBe(3);
    await chain.control('endpoint', { name: 'second', requestsPerSecond: 0 });
    expect((await fetch(`${chain.url}/endpoint/second/wallet/getnowblock`)).status).toBe(429);
    await chain.control('endpoint', { name: 'second', down: true });
    await expect(ask()).rejects.toThrow('fetch failed');
    await chain.control('heal');
    expect((await ask()).block_header.raw_data.number).toBe(before.block_header.raw_data.number + 3);
  });

  test('an endpoint that began later: no older blocks and transactions, but the first block and accounts', async () => {
    const { id, blockNumber } = await chain.include(chain.transfer(alice, bob, trx(1)), alice);
    await chain.control('mine', { blocks: lag + 1 });
    await chain.control('endpoint', { name: 'lite', firstBlock: blockNumber });
    const ask = (name: string, body: object) => chain.post(`/endpoint/lite/walletsolidity/${name}`, { ...body });
    expect(await ask('gettransactioninfobyid', { value: id })).toMatchObject({ id });
    expect(await ask('getblockbynum', { num: blockNumber - 1 })).toEqual({});
    await chain.control('endpoint', { name: 'lite', firstBlock: blockNumber + 1 });
    expect(await ask('gettransactioninfobyid', { value: id })).toEqual({});
    expect(await ask('gettransactionbyid', { value: id })).toEqual({});
    expect(await ask('gettransactioninfobyblocknum', { num: blockNumber })).toEqual([]);
    const { block } = await ask('getblockbylimitnext', { startNum: blockNumber - 2, endNum: blockNumber + 2 });
    expect(block).toMatchObject([{ block_header: { raw_data: { number: blockNumber + 1 } } }]);
    expect(await ask('getblockbynum', { num: 0 })).toHaveProperty('blockID');
    expect((await ask('getaccount', { address: bob.address, visible: true })).balance).toBe(Number(trx(2)));
  });

  test('an endpoint that lies, while the others tell the truth', async () => {
    const { id } = await chain.include(chain.transfer(alice, bob, trx(1)), alice);
    const liar = (name: string) => chain.post(`/endpoint/liar/wallet/${name}`, { value: id });
    const lie = (kind: string) => chain.control('endpoint', { name: 'liar', lie: kind });
    expect(await chain.post('/endpoint/liar/walletsolidity/gettransactioninfobyid', { value: id })).toEqual({});
    await lie('solid');
    expect((await chain.post('/endpoint/liar/walletsolidity/gettransactioninfobyid', { value: id })).id).toBe(id);
    await lie('absent');
    expect(await liar('gettransactioninfobyid')).toEqual({});
    expect((await liar('getnowblock')).transactions).toBeUndefined();
    await lie('failed');
    expect((await liar('gettransactionbyid')).ret).toEqual([{ contractRet: 'REVERT' }]);
    await lie('amount');
    expect((await liar('gettransactionbyid')).raw_data.contract[0].parameter.value.amount).toBe(10_000_000);
    await lie('ids');
    expect((await liar('getnowblock')).blockID).not.toBe((await status()).head_id);
    await lie('height');
    expect((await liar('getnowblock')).block_header.raw_data.number).toBe((await status()).head + 1_000);
    expect((await chain.post('/wallet/gettransactionbyid', { value: id })).ret).toEqual([{ contractRet: 'SUCCESS' }]);
  });
});

describe('clock and file', () => {
  test('makes blocks by the clock, unless it is paused', async () => {
    const timed = await TestChain.start({ isMining: true, blockMs: 20 });
    const head = async (): Promise<number> => (await timed.control('status')).head;
    expect(await until(async () => (await head()) >= 3, 20_000)).toBe(true);
    await timed.control('pause');
    // a block may have been under way
    const { head: paused } = await timed.control('mine');
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(await head()).toBe(paused);
    await timed.control('pause', { paused: false });
    expect(await until(async () => (await head()) > paused, 20_000)).toBe(true);
  });

  test('goes on where it was, after forks and snapshots', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'simulated-tron-'));
    const options = { stateFile: path.join(folder, 'chain.json'), solidLag: 3 };
    try {
      const first = await TestChain.start(options);
      const [saver, sender] = [await first.funded(trx(7)), await first.funded(trx(50), 70n)];
      await first.control('mine', { blocks: 5 });
      const { id } = await first.include(first.transfer(sender, newHolder(), trx(2)), sender);
      await first.control('fork', { depth: 1 });
      const [before, info] = [await first.control('status'), await first.post('/wallet/gettransactioninfobyid', { value: id })];
      await first.stop();
      for (let starts = 0; starts < 2; starts += 1) {
        const again = await TestChain.start(options);
        expect(await again.control('status')).toMatchObject({ head_id: before.head_id, solidified: before.solidified });
        expect(await again.post('/wallet/gettransactioninfobyid', { value: id })).toEqual(info);
        expect(await again.balance(sender)).toBe(trx(50) - trx(2) - 1_100_000n);
        const { blockID } = await again.post('/wallet/getblockbynum', { num: before.head });
        expect(blockID).toBe(before.head_id);
        expect(await again.balance(saver)).toBe(trx(7));
        expect(await again.balance(saver, 'walletsolidity')).toBe(trx(7));
        await again.stop();
      }
    } finally {
      await TestChain.stopAll();
      rmSync(folder, { recursive: true });
    }
  });
});

test('a hundred transfers, twenty at a time: each arrives once', async () => {
  const receivers = Array.from({ length: 100 }, newHolder);
  const waiting = [...receivers];
  const sendAll = async () => {
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      const answer = await chain.send(signed(chain.call(alice, token, transferData(next, 7n)), alice.key));
      expect(answer).toMatchObject({ result: true });
    }
  };
  await Promise.all(Array.from({ length: 20 }, sendAll));
  await chain.control('mine');
  const infos = await chain.post('/wallet/gettransactioninfobyblocknum', { num: (await status()).head });
  expect(infos.map(({ receipt }: { receipt: { result: string } }) => receipt.result)).toEqual(receivers.map(() => 'SUCCESS'));
  const told = infos.map(({ log }: { log: { topics: string[] }[] }) => log[0]?.topics[2]?.slice(24)).sort();
  expect(told).toEqual(receivers.map(({ bytes }) => bytes.subarray(1).toString('hex')).sort());
});
