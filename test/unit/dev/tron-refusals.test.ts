import { parseAddress, sign } from '../../../dev/tron/address';
import { buildTransaction } from '../../../dev/tron/build';
import { rawBytes, transactionId } from '../../../dev/tron/json';
import { rawSchema, type RawTransaction, transactionSchema, type TriggerSmartContract } from '../../../dev/tron/messages';
import { encode } from '../../../dev/tron/protobuf';
import { change, type Holder, newHolder, signed, TestChain, transferData, trx, usdt, wrap } from '../../tron-simulator';

let chain: TestChain;
let [alice, bob]: Holder[] = [];
const token = parseAddress(usdt);
const amount = trx(1);

beforeAll(async () => {
  chain = await TestChain.start();
  alice = await chain.funded(trx(1_000), 5_000_000n);
  bob = await chain.funded();
});
afterAll(() => TestChain.stopAll());

const from = () => alice as Holder;
const to = () => bob as Holder;
const raw = (transaction = chain.transfer(from(), to(), amount)) => transaction.raw_data as RawTransaction;

async function expectRefusal(bytes: Buffer, code: string, message: string): Promise<void> {
  expect(await chain.send(bytes)).toMatchObject({ result: false, code, message: expect.stringContaining(message) });
}

const notOwner = (bytes: Buffer) => expectRefusal(bytes, 'SIGERROR', 'but it is not contained of permission.');

describe('signatures', () => {
  const refused = (bytes: Buffer, message: string) => expectRefusal(bytes, 'SIGERROR', `Validate signature error: ${message}`);

  test('none', () => refused(signed(chain.transfer(from(), to(), amount)), 'miss sig or contract'));

  test('of another key', async () => {
    const transaction = chain.transfer(from(), to(), amount);
    await refused(
      signed(transaction, to().key),
      `${sign(transactionId(transaction), to().key).toString('hex')} is signed by ${to().address}`,
    );
  });

  test('over something else', async () => {
    const transaction = chain.transfer(from(), to(), amount);
    const signature = [sign(transactionId(chain.transfer(from(), to(), 2n)), from().key)];
    await notOwner(encode(transactionSchema, { ...transaction, signature }));
  });

  test('two for one key', () => {
    const { key } = from();
    return refused(
      signed(chain.transfer(from(), to(), amount), key, key),
      'Signature count is 2 more than key counts of permission : 1',
    );
  });

  test('six', () => {
    const { key } = from();
    return refused(signed(chain.transfer(from(), to(), amount), key, key, key, key, key, key), 'too many signatures');
  });

  test('too short', async () => {
    const transaction = chain.transfer(from(), to(), amount);
    const signature = [sign(transactionId(transaction), from().key).subarray(0, 64)];
    await refused(encode(transactionSchema, { ...transaction, signature }), 'Signature size is 64');
  });

  test('a recovery id that is none', async () => {
    const transaction = chain.transfer(from(), to(), amount);
    const signature = Buffer.from(sign(transactionId(transaction), from().key));
    signature[64] = 99;
    await refused(encode(transactionSchema, { ...transaction, signature: [signature] }), 'Header byte out of range');
  });

  test('a permission that the account does not have', async () => {
    const transaction = chain.transfer(from(), to(), amount);
    const contract = raw(transaction).contract.map((entry) => ({ ...entry, Permission_id: 3 }));
    await refused(signed(change(transaction, { contract }), from().key), "permission isn't exit");
  });

  test('a type that is not what the parameter says', async () => {
    const transaction = chain.transfer(from(), to(), amount);
    const contract = raw(transaction).contract.map((entry) => ({
      ...entry,
      parameter: {
        type_url: 'type.googleapis.com/protocol.TransferAssetContract',
        value: entry.parameter?.value ?? Buffer.alloc(0),
      },
    }));
    await notOwner(signed(change(transaction, { contract }), from().key));
  });
});

describe('other encodings', () => {
  // the node serialises again: the id is that of the canonical bytes, whatever was signed

  test('a default value that is written out', async () => {
    const canonical = rawBytes(chain.transfer(from(), to(), amount));
    await notOwner(wrap(Buffer.concat([canonical, Buffer.from([0x90, 0x01, 0x00])]), from().key));
  });

  test('fields in another order', async () => {
    const { ref_block_bytes, ...rest } = raw();
    const first = encode(rawSchema, rest);
    await notOwner(wrap(Buffer.concat([first, encode(rawSchema, { ref_block_bytes })]), from().key));
  });

  test('a number with more bytes than it needs', async () => {
    const rest = { ...raw(), timestamp: 0n };
    await notOwner(wrap(Buffer.concat([encode(rawSchema, rest), Buffer.from([0x70, 0x81, 0x00])]), from().key));
  });

  test('one whose canonical bytes were signed is taken, with the id of those', async () => {
    const transaction = chain.transfer(from(), to(), amount);
    const canonical = rawBytes(transaction);
    const answer = await chain.send(wrap(Buffer.concat([canonical, Buffer.from([0x90, 0x01, 0x00])]), from().key, canonical));
    expect(answer).toMatchObject({ result: true, txid: transactionId(transaction).toString('hex') });
  });

  test('fields that the network does not know, in the transaction and in the contract', async () => {
    const extra = Buffer.from([0xa8, 0x06, 0x01]);
    await expectRefusal(
      wrap(Buffer.concat([rawBytes(chain.transfer(from(), to(), amount)), extra]), from().key),
      'OTHER_ERROR',
      'unknown field',
    );
    const transaction = chain.transfer(from(), to(), amount);
    const contract = raw(transaction).contract.map((entry) => ({
      ...entry,
      parameter: { type_url: entry.parameter?.type_url ?? '', value: Buffer.concat([entry.parameter?.value ?? extra, extra]) },
    }));
    await expectRefusal(signed(change(transaction, { contract }), from().key), 'OTHER_ERROR', 'unknown field');
  });

  test('bytes that are no message', async () => {
    expect(await chain.send(Buffer.from('0affff', 'hex'))).toEqual({
      Error: expect.stringContaining('com.google.protobuf.InvalidProtocolBufferException'),
    });
    expect(await chain.post('/wallet/broadcasthex', { transaction: 'xy' })).toEqual({
      Error: expect.stringContaining('DecoderException'),
    });
  });
});

describe('time and place', () => {
  const send = (changes: Partial<RawTransaction>, code: string, message: string) =>
    expectRefusal(signed(chain.transfer(from(), to(), amount, changes), from().key), code, message);
  const now = () => chain.simulator.chain.head.timeMs;

  test('expired', () => send({ expiration: BigInt(now()) }, 'TRANSACTION_EXPIRATION_ERROR', 'Transaction expired'));

  test('expires before the next block', () =>
    send({ expiration: BigInt(now() + 99) }, 'TRANSACTION_EXPIRATION_ERROR', 'Transaction expired'));

  test('expires in more than a day', () =>
    send({ expiration: BigInt(now() + 86_400_001) }, 'TRANSACTION_EXPIRATION_ERROR', 'Transaction expired'));

  test('refers to a block that there is not', () =>
    send({ ref_block_bytes: Buffer.from('fff0', 'hex') }, 'TAPOS_ERROR', 'Tapos check error.'));

  test('refers to another block of that number', () =>
    send({ ref_block_hash: Buffer.alloc(8, 7) }, 'TAPOS_ERROR', 'Tapos check error.'));

  test('the same one again, pending and in a block', async () => {
    const bytes = signed(chain.transfer(from(), to(), amount), from().key);
    expect(await chain.send(bytes)).toMatchObject({ result: true });
    await expectRefusal(bytes, 'DUP_TRANSACTION_ERROR', 'Dup transaction.');
    await chain.control('mine');
    await expectRefusal(bytes, 'DUP_TRANSACTION_ERROR', 'Dup transaction.');
  });

  test('too large', () => send({ data: Buffer.alloc(512_000) }, 'TOO_BIG_TRANSACTION_ERROR', 'Too big transaction with result'));

  test('too large for one that creates an account', () => {
    const transaction = chain.transfer(from(), newHolder(), amount, { data: Buffer.alloc(1_000) });
    return expectRefusal(signed(transaction, from().key), 'TOO_BIG_TRANSACTION_ERROR', 'Too big new account transaction');
  });
});

describe('contracts', () => {
  const refused = (bytes: Buffer, message: string) =>
    expectRefusal(bytes, 'CONTRACT_VALIDATE_ERROR', `Contract validate error : ${message}`);
  const send = (receiver: Holder, value: bigint, message: string, sender = from()) =>
    refused(signed(chain.transfer(sender, receiver, value), sender.key), message);
  const call = (changes: Partial<RawTransaction>, message: string, contract = token) =>
    refused(signed(chain.call(from(), contract, transferData(to(), 1n), changes), from().key), message);

  test('none', () => refused(Buffer.alloc(0), 'No contract!'));

  test('two', async () => {
    const { contract } = raw();
    const both = change(chain.transfer(from(), to(), amount), { contract: [...contract, ...contract] });
    await refused(signed(both, from().key), `tx ${transactionId(both).toString('hex')} contract size should be exactly 1`);
  });

  test('of a type that the simulator does not have', async () => {
    const contract = raw().contract.map((entry) => ({ ...entry, type: 46 }));
    const bytes = signed(change(chain.transfer(from(), to(), amount), { contract }), from().key);
    await expectRefusal(bytes, 'OTHER_ERROR', 'the simulator has no AccountPermissionUpdateContract');
  });

  test('an account that there is not', async () => {
    const nobody = newHolder();
    await send(to(), 1n, `account [${nobody.address}] does not exist`, nobody);
  });

  test('nothing', () => send(to(), 0n, 'Amount must be greater than 0.'));
  test('less than nothing', () => send(to(), -1n, 'Amount must be greater than 0.'));
  test('to itself', () => send(from(), 1n, 'Cannot transfer TRX to yourself.'));
  test('from no address', () => {
    const sender = { ...from(), bytes: from().bytes.subarray(1) };
    // the key of its owner cannot be told
    return notOwner(signed(chain.transfer(sender, to(), 1n), from().key));
  });
  test('to no address', () => send({ ...to(), bytes: Buffer.alloc(20) }, 1n, 'Invalid toAddress!'));
  test('TRX to a contract', () => send({ ...to(), bytes: token }, 1n, 'Cannot transfer TRX to a smartContract.'));
  test('more than there is', () => send(to(), trx(100_000), 'Validate TransferContract error, balance is not sufficient.'));

  test('all, to a new account: its fee is missing', async () => {
    const carol = await chain.funded(trx(10));
    await send(newHolder(), trx(10) - 100_000n, 'Validate TransferContract error, balance is not sufficient.', carol);
  });

  test('a call of no contract', () => call({}, 'No contract or not a smart contract', to().bytes));
  test('more than a number holds, with the fee of a new account', () => send(newHolder(), 2n ** 63n - 1n, 'long overflow'));
  test('of a contract, before it is sent', async () => {
    const body = { owner_address: from().address, contract_address: to().address, visible: true };
    expect(await chain.post('/wallet/triggerconstantcontract', body)).toEqual({
      result: { code: 'CONTRACT_VALIDATE_ERROR', message: 'Smart contract is not exist.' },
    });
    expect(await chain.post('/wallet/triggersmartcontract', body)).toEqual({
      result: {
        code: 'CONTRACT_VALIDATE_ERROR',
        message: 'No contract or not a valid smart contract',
      },
    });
  });
  test('more TRX with a call than there is', async () => {
    const message = 'Validate InternalTransfer error, balance is not sufficient.';
    await refused(signed(chain.call(from(), token, transferData(to(), 1n), {}, trx(100_000)), from().key), message);
    const body = { owner_address: from().address, contract_address: usdt, call_value: Number(trx(100_000)), visible: true };
    expect(await chain.post('/wallet/triggerconstantcontract', body)).toMatchObject({
      result: { code: 'CONTRACT_VALIDATE_ERROR', message: expect.stringContaining(message) },
    });
  });
  test.each<[string, Partial<TriggerSmartContract>, string]>([
    ['TRX', { call_value: -1n }, 'callValue must be >= 0'],
    ['tokens', { call_token_value: -1n }, 'tokenValue must be >= 0'],
    ['tokens of an id that is none', { call_token_value: 1n, token_id: 1_000_000n }, 'tokenId must be > 1000000'],
    ['TRC-10 tokens', { call_token_value: 1n, token_id: 1_000_001n }, 'the simulator has no TRC-10 tokens'],
  ])('a call with %s that cannot be', async (_, changes, message) => {
    const call = {
      ...{ owner_address: from().bytes, contract_address: token, data: Buffer.from(transferData(to(), 1n), 'hex') },
      ...{ call_value: 0n, call_token_value: 0n, token_id: 0n, ...changes },
    };
    const transaction = buildTransaction(chain.simulator.chain, 'TriggerSmartContract', call, { feeLimit: trx(100) });
    await refused(signed(transaction, from().key), message);
  });
  test('a fee limit below zero', () => call({ fee_limit: -1n }, 'feeLimit must be >= 0 and <= 15000000000'));
  test('a fee limit above the highest', () => call({ fee_limit: 15_000_000_001n }, 'feeLimit must be >= 0 and <= 15000000000'));
});

test('more than a node keeps waiting', async () => {
  const small = await TestChain.start({ maxPending: 1 });
  const carol = await small.funded();
  const send = (value: bigint) => small.send(signed(small.transfer(carol, to(), value), carol.key));
  expect(await send(trx(1))).toMatchObject({ result: true });
  expect(await send(trx(2))).toMatchObject({ result: false, code: 'SERVER_BUSY', message: 'Server busy.' });
});

describe('fees', () => {
  test('no bandwidth and no TRX to pay for it', async () => {
    const poor = await chain.funded(trx(2));
    // the day's free bytes suffice for two
    for (let sent = 0; sent < 2; sent += 1) await chain.include(chain.transfer(poor, to(), BigInt(sent + 1)), poor);
    const rest = (await chain.balance(poor)) - 100_000n;
    await chain.control('resources', { address: poor.address, bandwidth: '1000' });
    await chain.include(chain.transfer(poor, to(), rest), poor);
    await chain.control('resources', { address: poor.address, bandwidth: '0' });
    const bytes = signed(chain.transfer(poor, to(), 3n), poor.key);
    await expectRefusal(bytes, 'BANDWITH_ERROR', 'Account resource insufficient error.');
  });

  test('a memo that cannot be paid', async () => {
    const poor = await chain.funded(trx(1) - 1n);
    const bytes = signed(chain.transfer(poor, to(), 1n, { data: Buffer.from('memo') }), poor.key);
    await expectRefusal(bytes, 'BANDWITH_ERROR', 'Account resource insufficient error.');
  });

  test('a new account that cannot be paid', async () => {
    const poor = await chain.funded(50_000n);
    await expectRefusal(
      signed(chain.transfer(poor, newHolder(), 1n), poor.key),
      'BANDWITH_ERROR',
      'Account resource insufficient error.',
    );
  });
});
