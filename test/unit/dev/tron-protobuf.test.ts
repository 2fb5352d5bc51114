import protobuf from 'protobufjs';
import { fromBase58, toBase58 } from '../../../dev/tron/address';
import { type RawTransaction, rawSchema } from '../../../dev/tron/messages';
import { decode, encode, MalformedMessage, UnknownField } from '../../../dev/tron/protobuf';

// an independent encoder, with the same fields (Tron.proto)
const { root } = protobuf.parse(
  `
  syntax = "proto3";
  message Any { string type_url = 1; bytes value = 2; }
  message Contract { int32 type = 1; Any parameter = 2; bytes provider = 3; bytes ContractName = 4; int32 Permission_id = 5; }
  message raw {
    bytes ref_block_bytes = 1; int64 ref_block_num = 3; bytes ref_block_hash = 4; int64 expiration = 8; bytes data = 10;
    repeated Contract contract = 11; bytes scripts = 12; int64 timestamp = 14; int64 fee_limit = 18;
  }`,
  { keepCase: true },
);
const type = root.lookupType('raw');

const raw: RawTransaction = {
  ref_block_bytes: Buffer.from('abcd', 'hex'),
  ref_block_num: 0n,
  ref_block_hash: Buffer.from('0011223344556677', 'hex'),
  expiration: 1_795_446_572_600n,
  auths: [],
  data: Buffer.from('memo ☃'),
  contract: [
    {
      ...{ type: 31, provider: Buffer.alloc(0), ContractName: Buffer.from('x'), Permission_id: 2 },
      parameter: { type_url: 'type.googleapis.com/protocol.TriggerSmartContract', value: Buffer.alloc(300, 5) },
    },
  ],
  scripts: Buffer.alloc(0),
  timestamp: -1n,
  fee_limit: 15_000_000_000n,
};

test('encodes as another library does', () => {
  const { ref_block_bytes, ref_block_hash, data, contract, ...rest } = raw;
  const numbers = { expiration: String(rest.expiration), timestamp: String(rest.timestamp), fee_limit: String(rest.fee_limit) };
  const theirs = type.encode(type.fromObject({ ref_block_bytes, ref_block_hash, data, contract, ...numbers })).finish();
  const ours = encode(rawSchema, raw);
  // their encoder writes empty bytes within a message, which proto3 leaves out
  expect(decode<RawTransaction>(rawSchema, theirs)).toEqual(raw);
  expect(encode(rawSchema, decode<RawTransaction>(rawSchema, theirs))).toEqual(ours);
  expect(type.toObject(type.decode(ours), { longs: String })).toMatchObject({
    expiration: '1795446572600',
    timestamp: '-1',
    fee_limit: '15000000000',
  });
});

test('what it reads, it writes', () => {
  expect(decode<RawTransaction>(rawSchema, encode(rawSchema, raw))).toEqual(raw);
});

test.each([
  ['ends within a number', '70ff', MalformedMessage],
  ['ends within a field', '0a05aa', MalformedMessage],
  ['has a number of eleven bytes', '70ffffffffffffffffffff01', MalformedMessage],
  ['has a field that is not known', 'a80601', UnknownField],
  ['has a field of another type', '0801', UnknownField],
  ['has a text that is not UTF-8', '5a051203' + '0a01ff', MalformedMessage],
])('refuses a message that %s', (_, bytes, error) => {
  expect(() => decode(rawSchema, Buffer.from(bytes, 'hex'))).toThrow(error);
});

test('Base58Check', () => {
  const bytes = Buffer.from('41a614f803b6fd780986a42c78ec9c7f77e6ded13c', 'hex');
  expect(toBase58(bytes)).toBe('TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t');
  expect(fromBase58('TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t')).toEqual(bytes);
  for (const text of ['', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6u', '0', 'T'.repeat(65)]) expect(() => fromBase58(text)).toThrow();
  expect(fromBase58(toBase58(Buffer.from('0000ff', 'hex')))).toEqual(Buffer.from('0000ff', 'hex'));
});
