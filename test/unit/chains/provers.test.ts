import { createProvers } from '../../../src/chains/clients';
import { rpcUrlsVariable } from '../../../src/chains/config';
import { getFamily } from '../../../src/chains/families';
import { loadRegistry } from '../../../src/chains/registry';
import { getChains } from '../../../src/chains/registry/data';

/** Endpoints of a signing node: it asks only chains where attempts are reissued. */

const everyChain = (environment: 'production' | 'sandbox' | 'local') =>
  loadRegistry(
    environment,
    getChains(environment).map(({ name }) => name),
  );

test.each(['production', 'sandbox', 'local'] as const)(
  '%s: one for every chain that reissues, and for no other',
  (environment) => {
    const registry = everyChain(environment);
    const env = Object.fromEntries(registry.all.map(({ name }) => [rpcUrlsVariable(name), 'http://127.0.0.1:1']));
    const reissuing = registry.all.filter(({ family }) => getFamily(family).rules.expired === 'reissue').map(({ name }) => name);
    expect(reissuing).not.toEqual([]);
    expect([...createProvers(registry, env).keys()]).toEqual(reissuing);
  },
);

test('without urls, or with an empty text, there is none; malformed ones are refused', () => {
  const registry = loadRegistry('local', ['ethereum', 'tron']);
  expect(createProvers(registry, {}).size).toBe(0);
  expect(createProvers(registry, { CHAIN_TRON_RPC_URLS: '' }).size).toBe(0);
  expect(() => createProvers(registry, { CHAIN_TRON_RPC_URLS: 'tron.example' })).toThrow('CHAIN_TRON_RPC_URLS');
  // what it does not use it does not read
  expect(createProvers(registry, { CHAIN_TRON_RPC_URLS: 'http://127.0.0.1:1', CHAIN_ETHEREUM_RPC_URLS: 'nothing' }).size).toBe(1);
});
