import { getFamily } from '../../../src/chains/families';
import { loadRegistry } from '../../../src/chains/registry';
import type { GatewayEnvironment } from '../../../src/chains/types';
import { parseTransfer } from '../../../src/transfers/accept/request';

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

const parse = (environment: GatewayEnvironment, chain: string, toAddress: string) =>
  parseTransfer(
    { registry: loadRegistry(environment, [chain]), getFamily },
    {
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
      ...{ fromAddress: own[environment], toAddress, chain, tokenSymbol: 'BTC', amount: '1' },
    },
  );

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
