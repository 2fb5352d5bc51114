import { parseAddress } from '../../../dev/tron/address';
import { buildTransaction, signTransaction } from '../../../dev/tron/build';
import { showTransaction, stringify } from '../../../dev/tron/json';
import { type Holder, newHolder, TestChain, transferData, trx, usdt } from '../../tron-simulator';

let chain: TestChain;
let [alice, bob]: Holder[] = [];
let sent: { id: string; blockNumber: number };
const token = parseAddress(usdt);
const from = () => alice as Holder;
const to = () => bob as Holder;
const hex = ({ bytes }: Holder): string => bytes.toString('hex');

beforeAll(async () => {
  chain = await TestChain.start();
  alice = await chain.funded(trx(1_000), 5_000_000n);
  bob = await chain.funded(trx(1));
  sent = await chain.include(chain.call(from(), token, transferData(to(), 5n)), from());
});
afterAll(() => TestChain.stopAll());

const get = async (path: string) => (await fetch(`${chain.url}${path}`)).json();

describe('blocks', () => {
  test('by number, id, range and as they are now, by GET and POST', async () => {
    const block = await chain.post('/wallet/getblockbynum', { num: sent.blockNumber });
    expect(block).toEqual({
      blockID: expect.stringMatching(/^[0-9a-f]{64}$/),
      block_header: {
        raw_data: {
          number: sent.blockNumber,
          timestamp: expect.any(Number),
          txTrieRoot: expect.stringMatching(/^[0-9a-f]{64}$/),
          parentHash: expect.stringMatching(/^[0-9a-f]{64}$/),
          witness_address: expect.stringMatching(/^41[0-9a-f]{40}$/),
          version: 32,
        },
        witness_signature: expect.stringMatching(/^[0-9a-f]{130}$/),
      },
      transactions: [expect.objectContaining({ txID: sent.id, ret: [{ contractRet: 'SUCCESS' }] })],
    });
    expect(BigInt(`0x${block.blockID.slice(0, 16)}`)).toBe(BigInt(sent.blockNumber));
    expect(await get(`/wallet/getblockbynum?num=${sent.blockNumber}`)).toEqual(block);
    expect(await chain.post('/wallet/getblockbyid', { value: block.blockID })).toEqual(block);
    expect(await chain.post('/wallet/getnowblock')).toEqual(block);
    expect(await get('/wallet/getnowblock')).toEqual(block);
    expect(await chain.post('/wallet/getblock', { id_or_num: String(sent.blockNumber), detail: true })).toEqual(block);
    expect((await chain.post('/wallet/getblock')).transactions).toBeUndefined();
    const range = { startNum: sent.blockNumber - 1, endNum: sent.blockNumber + 5 };
    const { block: blocks } = await chain.post('/wallet/getblockbylimitnext', range);
    expect(blocks).toEqual([expect.objectContaining({ blockID: block.block_header.raw_data.parentHash }), block]);
  });

  test('those that there are not, and ranges that are too wide', async () => {
    expect(await chain.post('/wallet/getblockbynum', { num: sent.blockNumber + 1 })).toEqual({});
    expect(await chain.post('/wallet/getblockbyid', { value: '00'.repeat(32) })).toEqual({});
    expect(await chain.post('/wallet/getblockbylimitnext', { startNum: 0, endNum: 101 })).toEqual({});
    expect(await chain.post('/wallet/getblock', { id_or_num: 'abc' })).toEqual({ Error: 'id must be legal block hash.' });
  });
});

describe('transactions', () => {
  test('with and without visible', async () => {
    const plain = await chain.post('/wallet/gettransactionbyid', { value: sent.id });
    const parameter = (shown: typeof plain) => shown.raw_data.contract[0].parameter.value;
    expect(parameter(plain)).toEqual({
      owner_address: hex(from()),
      contract_address: token.toString('hex'),
      data: transferData(to(), 5n),
    });
    const visible = await chain.post('/wallet/gettransactionbyid', { value: sent.id, visible: true });
    expect(parameter(visible)).toMatchObject({ owner_address: from().address, contract_address: usdt });
    expect(visible.raw_data_hex).toBe(plain.raw_data_hex);
  });

  test('what is pending is shown by a full node alone, without a receipt', async () => {
    const parameter = { owner_address: from().bytes, to_address: to().bytes, amount: 4n };
    const transaction = signTransaction(buildTransaction(chain.simulator.chain, 'TransferContract', parameter), from().key);
    const body = JSON.parse(stringify(showTransaction(transaction, true)));
    const { txid } = await chain.post('/wallet/broadcasttransaction', { ...body, visible: true });
    const before = await chain.balance(to());
    expect(await chain.post('/wallet/gettransactionbyid', { value: txid })).toMatchObject({ txID: txid });
    expect(await chain.post('/walletsolidity/gettransactionbyid', { value: txid })).toEqual({});
    expect(await chain.post('/wallet/gettransactioninfobyid', { value: txid })).toEqual({});
    await chain.control('mine');
    expect(await chain.balance(to())).toBe(before);
    expect(await chain.post('/wallet/gettransactioninfobyid', { value: txid })).toMatchObject({
      contractResult: [''],
      receipt: { net_fee: expect.any(Number) },
    });
  });

  test('receipts of a block; addresses of events have no prefix, but with visible', async () => {
    const [info, ...others] = await chain.post('/wallet/gettransactioninfobyblocknum', { num: sent.blockNumber });
    expect(others).toEqual([]);
    expect(info).toEqual(await chain.post('/wallet/gettransactioninfobyid', { value: sent.id }));
    expect(info.log[0].address).toBe(token.subarray(1).toString('hex'));
    const visible = await get(`/wallet/gettransactioninfobyid?value=${sent.id}&visible=true`);
    expect(visible).toMatchObject({ contract_address: usdt, log: [{ address: usdt }] });
    expect(await chain.post('/wallet/gettransactioninfobyblocknum', { num: 0 })).toEqual({});
    expect(await chain.post('/wallet/gettransactioninfobyblocknum', { num: 1_000_000 })).toEqual([]);
  });

  test('a contract that the simulator does not have', async () => {
    const value = { owner_address: hex(from()), account_address: hex(newHolder()) };
    const contract = [{ type: 'AccountCreateContract', parameter: { value, type_url: 'type.googleapis.com/x' } }];
    const body = { raw_data: { contract, ref_block_bytes: '0000' }, signature: [] };
    expect(await chain.post('/wallet/broadcasttransaction', body)).toMatchObject({ code: 'OTHER_ERROR' });
    const unknown = { raw_data: { contract: [{ ...contract[0], type: 'NoSuchContract' }] }, signature: [], visible: true };
    expect(await chain.post('/wallet/broadcasttransaction', unknown)).toMatchObject({
      code: 'CONTRACT_VALIDATE_ERROR',
      message: 'Contract validate error : No contract!',
    });
    expect(await chain.post('/wallet/broadcasttransaction', {})).toEqual({
      Error: 'class java.lang.NullPointerException : null',
    });
  });
});

describe('accounts and contracts', () => {
  test('an account in both forms; one that there is not', async () => {
    const plain = await chain.post('/wallet/getaccount', { address: hex(to()) });
    expect(plain).toMatchObject({
      address: hex(to()),
      owner_permission: { permission_name: 'owner', threshold: 1, keys: [{ address: hex(to()), weight: 1 }] },
    });
    expect(await get(`/wallet/getaccount?address=${to().address}&visible=true`)).toMatchObject({
      address: to().address,
      balance: plain.balance,
    });
    expect(await chain.post('/wallet/getaccount', { address: hex(newHolder()) })).toEqual({});
    expect(await chain.post('/wallet/getaccountresource', { address: hex(newHolder()) })).toEqual({});
    expect(await chain.post('/wallet/getaccountnet', { address: hex(to()) })).toMatchObject({ freeNetLimit: 600 });
  });

  test('addresses that are none', async () => {
    const error = (answer: { Error: string }) => answer.Error;
    expect(error(await chain.post('/wallet/getaccount', { address: 'zz' }))).toContain('INVALID hex String');
    expect(error(await chain.post('/wallet/getaccount', { address: 'T0O', visible: true }))).toContain('INVALID base58 String');
    const wrong = `${to().address.slice(0, -1)}${to().address.endsWith('a') ? 'b' : 'a'}`;
    expect(error(await chain.post('/wallet/getaccount', { address: wrong, visible: true }))).toContain('NullPointerException');
  });

  test('a contract; parameters, prices and the node', async () => {
    const contract = await chain.post('/wallet/getcontract', { value: usdt, visible: true });
    expect(contract).toMatchObject({ contract_address: usdt, name: 'USDT', consume_user_resource_percent: 100 });
    expect(await chain.post('/wallet/getcontract', { value: hex(to()) })).toEqual({});
    const { chainParameter } = await chain.post('/wallet/getchainparameters');
    expect(chainParameter).toEqual(
      expect.arrayContaining([
        { key: 'getEnergyFee', value: 100 },
        { key: 'getTransactionFee', value: 1_000 },
        { key: 'getFreeNetLimit', value: 600 },
        { key: 'getMemoFee', value: 1_000_000 },
      ]),
    );
    expect(await chain.post('/wallet/getenergyprices')).toEqual({ prices: '0:100' });
    expect((await chain.post('/wallet/getnodeinfo')).block).toContain(`Num:`);
  });
});

describe('calls', () => {
  const constant = (body: object) =>
    chain.post('/wallet/triggerconstantcontract', {
      owner_address: hex(from()),
      contract_address: token.toString('hex'),
      ...body,
    });

  test('of a view, of a transfer that would fail, and of no contract', async () => {
    const parameter = to().bytes.subarray(1).toString('hex').padStart(64, '0');
    expect(await constant({ function_selector: 'balanceOf(address)', parameter })).toMatchObject({
      result: { result: true },
      constant_result: [(5).toString(16).padStart(64, '0')],
      transaction: { ret: [{}] },
    });
    const failing = await constant({ data: transferData(to(), 10n ** 20n) });
    expect(failing).toMatchObject({
      result: { result: true, message: expect.any(String) },
      transaction: { ret: [{ ret: 'FAILED' }] },
    });
    expect(failing.constant_result[0].slice(0, 8)).toBe('08c379a0');
    const nowhere = await constant({ contract_address: hex(to()), visible: false });
    expect(Buffer.from(nowhere.result.message, 'hex').toString()).toBe('Smart contract is not exist.');
    expect(nowhere.result.code).toBe('CONTRACT_VALIDATE_ERROR');
    expect((await chain.post('/wallet/triggerconstantcontract', {})).result.code).toBe('OTHER_ERROR');
  });

  test('change nothing', async () => {
    const before = await chain.control('status');
    await constant({ data: transferData(to(), 1n) });
    await chain.control('mine');
    const parameter = to().bytes.subarray(1).toString('hex').padStart(64, '0');
    const { constant_result } = await constant({ function_selector: 'balanceOf(address)', parameter });
    expect(BigInt(`0x${constant_result[0]}`)).toBe(5n);
    expect((await chain.control('status')).head).toBe(before.head + 1);
  });

  test('a node that estimates no energy', async () => {
    const answer = await chain.post('/wallet/estimateenergy', { visible: true });
    expect(answer.result).toEqual({ code: 'CONTRACT_VALIDATE_ERROR', message: 'this node does not support estimate energy' });
  });

  test('building is refused with the reason', async () => {
    const build = (body: object) =>
      chain.post('/wallet/createtransaction', { owner_address: hex(from()), to_address: hex(to()), ...body });
    const reason = 'class org.tron.core.exception.ContractValidateException';
    expect(await build({ amount: 0 })).toEqual({ Error: `${reason} : Amount must be greater than 0.` });
    expect(await build({ amount: 'x' })).toEqual({ Error: expect.stringContaining('ParseException') });
    expect(await build({ amount: 1, to_address: hex(from()) })).toEqual({
      Error: `${reason} : Cannot transfer TRX to yourself.`,
    });
    expect(await build({ amount: 1, owner_address: '41aa' })).toEqual({ Error: `${reason} : Invalid ownerAddress!` });
    expect(await build({ amount: 1, owner_address: hex(newHolder()) })).toEqual({
      Error: `${reason} : Validate TransferContract error, no OwnerAccount.`,
    });
  });
});

test('what is no path, no JSON, or too large', async () => {
  const status = async (path: string, body = '{}') => (await fetch(`${chain.url}${path}`, { method: 'POST', body })).status;
  expect(await status('/wallet/nosuch')).toBe(404);
  expect(await status('/wallet/constructor')).toBe(404);
  expect(await status('/walletsolidity/getcontract')).toBe(404);
  expect(await status('/simulator/nosuch')).toBe(404);
  expect(await status('/simulator/mine', '{"blocks":0}')).toBe(400);
  expect(await status('/wallet/getaccount', 'x'.repeat(5_000_000))).toBe(413);
  const answer = await fetch(`${chain.url}/wallet/getaccount`, { method: 'POST', body: '[' });
  expect(await answer.json()).toEqual({ Error: expect.stringContaining('JSONException') });
});
