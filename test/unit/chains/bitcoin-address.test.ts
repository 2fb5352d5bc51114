import { HDKey } from '@scure/bip32';
import { address, parseAddress } from '../../../src/chains/bitcoin/codec/address';
import { createBitcoinCodec } from '../../../src/chains/bitcoin/codec';
import { type BitcoinNetwork, mainnet, networks, regtest, signet, testnet4 } from '../../../src/chains/bitcoin/network';
import { invalidBitcoinAddresses } from '../../families/bitcoin-addresses';

/** Vectors of BIP-173 and BIP-350 that stand for standard scripts, and Base58Check ones of Bitcoin Core's key_io_valid.json. */
const ofMainnet: [string, string][] = [
  ['BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4', '0014751e76e8199196d454941c45d1b3a323f1433bd6'],
  [
    'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0',
    '512079be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798',
  ],
  [
    'bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3',
    '00201863143c14c5166804bd19203356da136c985678cd4d27a1b8c6329604903262',
  ],
  ['1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', '76a91462e907b15cbf27d5425399ebf6f0fb50ebb88f1888ac'],
  ['3P14159f73E4gFr7JterCCQh9QjiTjiZrG', 'a914e9c3dd0c07aac76179ebc76a6c78d4d67c6c160a87'],
];
const ofTestnet: [string, string][] = [
  [
    'tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7',
    '00201863143c14c5166804bd19203356da136c985678cd4d27a1b8c6329604903262',
  ],
  [
    'tb1qqqqqp399et2xygdj5xreqhjjvcmzhxw4aywxecjdzew6hylgvsesrxh6hy',
    '0020000000c4a5cad46221b2a187905e5266362b99d5e91c6ce24d165dab93e86433',
  ],
  ['tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx', '0014751e76e8199196d454941c45d1b3a323f1433bd6'],
  ['mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn', '76a914243f1394f44554f4ce3fd68649c19adc483ce92488ac'],
  ['2MzQwSSnBHWHqSAqtTVQ6v47XtaisrJa1Vc', 'a9144e9f39ca4688ff102128ea4ccda34105324305b087'],
];
const ofRegtest: [string, string][] = [
  ['bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080', '0014751e76e8199196d454941c45d1b3a323f1433bd6'],
];

const invalid: [string, string][] = [
  ...invalidBitcoinAddresses.map(([problem, text]): [string, string] => [problem, text]),
  ['nothing', ''],
  ['too long', 'bc1q'.padEnd(2_000, 'q')],
];

const keys = (network: BitcoinNetwork, list: [string, string][]) =>
  list.map(([text]) => parseAddress(network, text)?.key ?? null);
const scripts = (list: [string, string][]) => list.map(([, script]) => script);
const none = (list: [string, string][]) => list.map(() => null);

describe('addresses', () => {
  it('of each network are taken there and on the local chain, under one key, and nowhere else', () => {
    expect(keys(mainnet, ofMainnet)).toEqual(scripts(ofMainnet));
    expect(keys(mainnet, [...ofTestnet, ...ofRegtest])).toEqual(none([...ofTestnet, ...ofRegtest]));
    expect(keys(signet, ofTestnet)).toEqual(scripts(ofTestnet));
    expect(keys(testnet4, ofTestnet)).toEqual(scripts(ofTestnet));
    expect(keys(testnet4, [...ofMainnet, ...ofRegtest])).toEqual(none([...ofMainnet, ...ofRegtest]));
    expect(keys(signet, [...ofMainnet, ...ofRegtest])).toEqual(none([...ofMainnet, ...ofRegtest]));
    const all = [...ofMainnet, ...ofTestnet, ...ofRegtest];
    expect(keys(regtest, all)).toEqual(scripts(all));
  });

  it('of another network are refused with the name of that network', () => {
    const users = (network: BitcoinNetwork, list: [string, string][]) => [
      ...new Set(list.map(([text]) => createBitcoinCodec(network).findForeignUsers(text))),
    ];
    expect(users(mainnet, ofTestnet)).toEqual(['the test networks']);
    expect(users(mainnet, ofRegtest)).toEqual(['regtest']);
    for (const network of [signet, testnet4]) {
      expect(users(network, ofMainnet)).toEqual(['mainnet']);
      expect(users(network, ofRegtest)).toEqual(['regtest']);
      expect(users(network, ofTestnet)).toEqual([null]);
    }
    expect(users(regtest, [...ofMainnet, ...ofTestnet, ...ofRegtest])).toEqual([null]);
  });

  it('are shown in the usual spelling of their network', () => {
    expect(parseAddress(mainnet, 'BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4')?.address).toBe(
      'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
    );
    expect(parseAddress(regtest, 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4')?.address).toBe(ofRegtest[0]?.[0]);
    expect(parseAddress(regtest, '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa')?.address).toBe('mpXwg4jMtRhuSpVq4xS3HFHmCmWp9NyGKt');
  });

  it.each(invalid)('with %s are refused on every network', (_name, text) => {
    for (const network of networks)
      expect([parseAddress(network, text), createBitcoinCodec(network).findForeignUsers(text)]).toEqual([null, null]);
  });
});

describe('accounts', () => {
  /** BIP-84, "Test vectors": the account's extended public key and its first receiving and change addresses. */
  const account = HDKey.fromExtendedKey(
    'zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs',
    { private: 0x04b2430c, public: 0x04b24746 },
  );
  const keyAt = (path: string) => account.derive(path).publicKey as Uint8Array;

  it('have the P2WPKH address of their key', () => {
    expect(address(mainnet, keyAt('m/0/0')).address).toBe('bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu');
    expect(address(mainnet, keyAt('m/0/1')).address).toBe('bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g');
    expect(address(mainnet, keyAt('m/1/0')).address).toBe('bc1q8c6fshw2dlwun7ekn9qwf37cu2rn755upcp6el');
  });

  it('have no hardened path, and none but compressed keys', () => {
    const codec = createBitcoinCodec(mainnet);
    expect(codec.accountPath(7)).toBe('m/0/7');
    expect(codec.address(keyAt(codec.accountPath(0))).address).toBe('bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu');
    expect(() => codec.address(new Uint8Array(65).fill(4))).toThrow(/33 bytes/);
  });
});
