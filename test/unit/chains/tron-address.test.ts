import { secp256k1 } from '@noble/curves/secp256k1.js';
import fc from 'fast-check';
import { TronWeb } from 'tronweb';
import { address, findForeignUsers, parseAddress } from '../../../src/chains/tron/codec/address';

/** T… and hex forms that TRON's documents and the tokens' issuers show. */
const known: [string, string][] = [
  ['TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', '41a614f803b6fd780986a42c78ec9c7f77e6ded13c'],
  ['TEkxiTehnzSmSe2XqrBj4w32RUN966rdz8', '413487b63d30b5b2c87fb7ffa8bcfade38eaac1abe'],
  ['TXLAQ63Xg1NAzckPwKHvzw7CSEmLMEqcdj', '41ea51342dabbb928ae1e576bd39eff8aaf070a8c6'],
  ['TDt9YtfuttvxD2Jv8F8v4JEDbnBBb1jVNt', '412aeb8add8337360e088b7d9ce4e857b9be60f3a7'],
];

test.each(known)('%s and %s are one address, which is stored as T…', (base58, hex) => {
  expect(parseAddress(base58)).toEqual({ address: base58, key: hex });
  expect(parseAddress(hex)).toEqual({ address: base58, key: hex });
  expect(parseAddress(`41${hex.slice(2).toUpperCase()}`)).toEqual({ address: base58, key: hex });
});

test.each([
  ['nothing', ''],
  ['a wrong checksum', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6u'],
  ['a letter in another case', 'tR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'],
  ['a letter that Base58 does not have', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj60'],
  ['a space', ' TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'],
  ['a digit in front', '1TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'],
  ['the form of an EVM chain', '0xa614f803b6fd780986a42c78ec9c7f77e6ded13c'],
  ['hex behind 0x', '0x41a614f803b6fd780986a42c78ec9c7f77e6ded13c'],
  ['hex with another first byte', 'a0a614f803b6fd780986a42c78ec9c7f77e6ded13c'],
  ['hex that is too short', '41a614f803b6fd780986a42c78ec9c7f77e6ded1'],
  ['an address of Bitcoin', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa'],
  ['an address of a test network of Bitcoin', 'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn'],
  ['the zero address', 'T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb'],
  ['the zero address in hex', '410000000000000000000000000000000000000000'],
  ['a long text', 'T'.repeat(100_000)],
])('%s is no address', (_, text) => {
  expect(parseAddress(text)).toBeNull();
});

test('an address of an EVM chain is refused with its users', () => {
  expect(findForeignUsers('0xa614f803b6fd780986a42c78ec9c7f77e6ded13c')).toBe('EVM chains');
  expect(findForeignUsers('TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t')).toBeNull();
  expect(findForeignUsers('anything')).toBeNull();
});

test('the address of a public key is that of tronweb', () => {
  // the key of TRON's documents ("tronpy") has only eights
  const eights = Buffer.alloc(32, 0x88);
  expect(address(secp256k1.getPublicKey(eights, true)).address).toBe('TJzXt1sZautjqXnpjQT4xSCBHNSYgBkDr3');
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (key) => {
      fc.pre(secp256k1.utils.isValidSecretKey(key));
      const own = address(secp256k1.getPublicKey(key, true));
      expect(own.address).toBe(TronWeb.address.fromPrivateKey(Buffer.from(key).toString('hex')));
      expect(parseAddress(own.address)).toEqual(own);
    }),
    { numRuns: 25 },
  );
  expect(() => address(secp256k1.getPublicKey(eights, false))).toThrow('33 bytes');
});

test('no two texts are one address but its T… form and its hex forms', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 20, maxLength: 20 }), fc.nat(33), fc.nat(57), (bytes, index, digit) => {
      const key = `41${Buffer.from(bytes).toString('hex')}`;
      const parsed = parseAddress(key);
      fc.pre(parsed !== null);
      const text = parsed?.address ?? '';
      const letters = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
      const changed = text.slice(0, index) + letters[digit] + text.slice(index + 1);
      expect(parseAddress(text)).toEqual(parsed);
      if (changed !== text) expect(parseAddress(changed)).toBeNull();
    }),
  );
});
