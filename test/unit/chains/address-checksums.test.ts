import { getFamily } from '../../../src/chains/families';
import { invalidAddress } from '../../../src/chains/invalid-address';
import { loadRegistry } from '../../../src/chains/registry';
import type { GatewayEnvironment } from '../../../src/chains/types';
import { invalidBitcoinAddresses } from '../../families/bitcoin-addresses';
import { invalidSolanaAddresses } from '../../families/solana-addresses';
import { invalidTronAddresses } from '../../families/tron-addresses';

const wrong = (text: string, name: string, environment: GatewayEnvironment = 'production'): boolean => {
  const chain = loadRegistry(environment, [name]).get(name);
  const family = getFamily(chain.family);
  const { message, code } = invalidAddress('to_address', text, chain, family);
  expect(code).toBe('invalid_address');
  const isWrong = message === `to_address is not a valid address on ${name}: its checksum is wrong`;
  expect(isWrong).toBe(family.hasWrongChecksum?.(text) ?? false);
  // what is an address is not asked about, and has a right one
  if (family.parseAddress(text) !== null) expect(isWrong).toBe(false);
  return isWrong;
};
/** A character in the place of another one. */
const mistyped = (text: string, at: number, by: string) => text.slice(0, at) + by + text.slice(at + 1);

describe('an address with a wrong checksum is told from a text that is no address', () => {
  const evm = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
  const tron = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';

  test('EVM: the letter case, by EIP-55', () => {
    expect(wrong(mistyped(evm, 3, 'A'), 'ethereum')).toBe(true);
    expect(wrong(mistyped(evm, 4, 'a'), 'ethereum')).toBe(true);
    expect(wrong(mistyped(evm, 2, '6'), 'ethereum')).toBe(true);
    for (const text of [evm, evm.toLowerCase(), `0x${evm.slice(2).toUpperCase()}`]) expect(wrong(text, 'ethereum')).toBe(false);
    for (const text of [
      evm.slice(0, -1),
      `${evm}0`,
      evm.slice(2),
      mistyped(evm, 1, 'X'),
      mistyped(evm, 5, 'g'),
      `0x${'0'.repeat(40)}`,
      tron,
      '',
    ])
      expect(wrong(text, 'ethereum')).toBe(false);
  });

  test('Tron: Base58Check, wherever the character is', () => {
    for (let at = 1; at < tron.length; at += 1) {
      expect([at, wrong(mistyped(tron, at, tron[at] === 'z' ? 'y' : 'z'), 'tron')]).toEqual([at, true]);
      expect([at, wrong(mistyped(tron, at, '0'), 'tron')]).toEqual([at, false]);
    }
    const wrongOnes = invalidTronAddresses.filter(([, text]) => wrong(text, 'tron')).map(([problem]) => problem);
    expect(wrongOnes).toEqual(['a wrong checksum']);
    expect(wrong(tron, 'tron')).toBe(false);
  });

  test('Bitcoin: Base58Check and the two checksums of bech32, of the addresses of the network', () => {
    const wrongOnes = invalidBitcoinAddresses.filter(([, text]) => wrong(text, 'bitcoin')).map(([problem]) => problem);
    expect(wrongOnes).toEqual([
      'a wrong checksum',
      'bech32 in place of bech32m',
      'bech32 in place of bech32m, version 16',
      'bech32m in place of bech32',
      'a wrong checksum in Base58Check',
    ]);
    // a program of 1 byte, with another checksum than that of BIP-350's vector
    expect(wrong('bc1pw5dgrnzx', 'bitcoin')).toBe(false);
    // the local chain takes addresses of every network
    const local = invalidBitcoinAddresses.filter(([, text]) => wrong(text, 'bitcoin', 'local')).map(([problem]) => problem);
    expect(local).toEqual([
      'a wrong checksum',
      'bech32 in place of bech32m',
      'bech32 in place of bech32m, version 2',
      'bech32 in place of bech32m, version 16',
      'bech32m in place of bech32',
      'bech32m in place of bech32, test network',
      'a wrong checksum in Base58Check',
    ]);
  });

  test.each([
    ['1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', 'bitcoin', 'production'],
    ['3P14159f73E4gFr7JterCCQh9QjiTjiZrG', 'bitcoin', 'production'],
    ['mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn', 'bitcoin', 'sandbox'],
    ['n3JKM66ecCCg1T5ELhDYM2zzaoErNwodVR', 'bitcoin', 'sandbox'],
    ['2MzQwSSnBHWHqSAqtTVQ6v47XtaisrJa1Vc', 'bitcoin-testnet4', 'sandbox'],
    ['bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3', 'bitcoin', 'production'],
    ['bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0', 'bitcoin', 'production'],
    ['tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx', 'bitcoin', 'sandbox'],
  ] as const)('%s on %s (%s), wherever the character is', (address, chain, environment) => {
    expect(wrong(address, chain, environment)).toBe(false);
    const isBech32 = /^(bc|tb)1/.test(address);
    for (let at = isBech32 ? 4 : 2; at < address.length; at += 1) {
      const changed = mistyped(address, at, address[at] === 'x' ? 'y' : 'x');
      expect([at, wrong(changed, chain, environment)]).toEqual([at, true]);
      if (isBech32) expect(wrong(changed.toUpperCase(), chain, environment)).toBe(true);
      if (isBech32) expect(wrong(mistyped(changed, 3, address.charAt(3).toUpperCase()), chain, environment)).toBe(false);
    }
    // of no network that the chain takes addresses of
    const elsewhere = environment === 'production' ? 'sandbox' : 'production';
    expect(wrong(mistyped(address, address.length - 1, 'x'), 'bitcoin', elsewhere)).toBe(false);
  });

  test('Solana has no checksum', () => {
    expect(getFamily(loadRegistry('production', ['solana']).get('solana').family)).not.toHaveProperty('hasWrongChecksum');
    for (const [, text] of invalidSolanaAddresses) expect(wrong(text, 'solana')).toBe(false);
  });

  test('a long text has no wrong checksum', () => {
    for (const chain of ['ethereum', 'tron', 'bitcoin'])
      for (const letter of ['T', '1', 'b', 'bc1q', '0x5a']) expect(wrong(letter.repeat(100_000), chain)).toBe(false);
  });
});
