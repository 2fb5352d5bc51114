import { getFamily } from '../../../src/chains/families';
import { loadRegistry } from '../../../src/chains/registry';
import type { GatewayEnvironment } from '../../../src/chains/types';
import { parseTransfer, toComparableTransfer } from '../../../src/transfers/accept/request';

const addresses = {
  mainnet: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
  test: 'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn',
  regtest: 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080',
};
const own = {
  production: '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa',
  sandbox: 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx',
  local: 'mpXwg4jMtRhuSpVq4xS3HFHmCmWp9NyGKt',
};

const toParser = (environment: GatewayEnvironment, chain: string) => ({
  registry: loadRegistry(environment, [chain]),
  getFamily,
});

const parse = (environment: GatewayEnvironment, chain: string, toAddress: string, given = {}) =>
  parseTransfer(toParser(environment, chain), {
    ...{
      txId: 't',
      clientId: 'c',
      userId: 'u',
      requestId: 'r',
      idempotencyKey: null,
      externalId: null,
      retryOf: null,
      memo: null,
      memoOnChain: false,
      allowsProgram: false,
    },
    ...{ fromAddress: own[environment], toAddress, chain, tokenSymbol: 'BTC', amount: '1', ...given },
  });

describe('a destination on another network is refused with the names of both networks', () => {
  test.each<[GatewayEnvironment, string, keyof typeof addresses, string, string]>([
    ['production', 'bitcoin', 'test', 'the test networks', 'mainnet'],
    ['production', 'bitcoin', 'regtest', 'regtest', 'mainnet'],
    ['sandbox', 'bitcoin', 'mainnet', 'mainnet', 'signet'],
    ['sandbox', 'bitcoin', 'regtest', 'regtest', 'signet'],
    ['sandbox', 'bitcoin-testnet4', 'mainnet', 'mainnet', 'testnet4'],
    ['sandbox', 'bitcoin-testnet4', 'regtest', 'regtest', 'testnet4'],
  ])('%s, %s, an address of %s', (environment, chain, address, users, network) => {
    const message = `is an address of ${users}, not of the network that ${chain} is here (${network})`;
    expect(() => parse(environment, chain, addresses[address])).toThrow(
      expect.objectContaining({
        ...{ code: 'invalid_address', message: `to_address ${message}` },
        fields: [{ field: 'to_address', message }],
      }),
    );
  });

  test('those of its own network are taken, and no address at all is just that', () => {
    expect(parse('sandbox', 'bitcoin-testnet4', addresses.test).to.address).toBe(addresses.test);
    expect(parse('local', 'bitcoin', addresses.mainnet).to.address).toBe(addresses.regtest);
    expect(() => parse('production', 'bitcoin', 'bc1qnothing')).toThrow('to_address is not a valid address on bitcoin');
  });
});

const tron = { base58: 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8', hex: '415cbdd86a2fa8dc4bddd8a8f69dba48572eec07fb' };
const tronOwn = 'TLsV52sRDL79HXGGm9yzwKibb6BeruhUzy';
const solana = 'J5NW6wcNmZCCgEv7mRNKuTqXrdVxKfRz3ktxc9PPUvaj';

describe('the same request, whatever the spelling of its addresses', () => {
  const compare = (chain: string, from: string, to: string) => {
    const rest = { token_symbol: 'ANY', amount: '1', on_chain_memo: false, allow_program_address: false };
    const input = { from_address: from, to_address: to, chain, ...rest };
    return toComparableTransfer(toParser('production', chain), input);
  };

  test.each([
    ['bitcoin', 'Bech32 in upper case (BIP-173)', addresses.mainnet, addresses.mainnet.toUpperCase()],
    ['tron', 'hex instead of Base58', tron.base58, tron.hex],
    ['tron', 'hex in upper case', tron.hex, tron.hex.toUpperCase()],
    ['ethereum', 'lower case', '0x52908400098527886E0F7030069857D2E4169EE7', '0x52908400098527886e0f7030069857d2e4169ee7'],
  ])('%s: %s', (chain, _what, one, other) => {
    const foreign = chain === 'tron' ? tronOwn : own.production;
    expect(compare(chain, one, foreign)).toEqual(compare(chain, other, foreign));
    expect(compare(chain, foreign, one)).toEqual(compare(chain, foreign, other));
    expect(compare(chain, foreign, one)).not.toEqual(compare(chain, one, foreign));
  });

  test('another address is another request, also one that differs in the case of letters alone', () => {
    expect(compare('bitcoin', own.production, addresses.mainnet)).not.toEqual(compare('bitcoin', own.production, addresses.test));
    expect(compare('tron', tronOwn, tron.base58)).not.toEqual(compare('tron', tronOwn, tronOwn));
    // Base58 tells upper from lower case
    expect(compare('solana', solana, solana)).not.toEqual(compare('solana', solana, solana.toLowerCase()));
    expect(compare('tron', tronOwn, tron.base58)).not.toEqual(compare('tron', tronOwn, tron.base58.toLowerCase()));
  });
});

describe('tokens are not sent to the contract of a token', () => {
  const toContracts = ({ chain, from }: { chain: string; from: string }) => {
    const { tokens } = loadRegistry('production', [chain]).get(chain);
    return tokens.flatMap(({ symbol, contract }) =>
      tokens.map((sent) => ({ chain, from, symbol, contract: contract ?? '', sent: sent.symbol })),
    );
  };
  const all = [
    { chain: 'tron', from: tronOwn },
    { chain: 'solana', from: solana },
    { chain: 'ethereum', from: '0x52908400098527886E0F7030069857D2E4169EE7' },
  ].flatMap(toContracts);

  test('each chain has a token', () => expect(new Set(all.map(({ chain }) => chain)).size).toBe(3));

  test.each(all)('$chain: $sent to the contract of $symbol', ({ chain, from, symbol, contract, sent }) => {
    const message = `is the contract of ${symbol}: tokens that are sent there are lost`;
    expect(() => parse('production', chain, contract, { fromAddress: from, tokenSymbol: sent })).toThrow(
      expect.objectContaining({ code: 'invalid_address', fields: [{ field: 'to_address', message }] }),
    );
  });
});
