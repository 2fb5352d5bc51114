import type { FeeLevels } from '../../../src/chains/types';
import { encodeLevels, maxFee, solanaFees } from '../../../src/chains/solana/fees';
import { maxPrice, maxUnits } from '../../../src/chains/solana/codec/transaction';
import { networks } from '../../../src/chains/solana/network';
import { solana } from '../../../src/chains/registry/solana';
import { toBytes } from '../../../src/chains/solana/codec/address';
import { solanaChain } from '../../solana';

/** What is held for a transfer, and the registry's data. */

const [usdc] = solanaChain.tokens as [(typeof solanaChain.tokens)[number]];
const bound = (token: typeof usdc, price: bigint) => solanaFees.bound(solanaChain, token, encodeLevels({ price }));

it.each([
  ['SOL', solanaChain.native, 0n, 5_000n],
  ['SOL at a price', solanaChain.native, 10_000n, 5_000n + 1_800n],
  ['a token has the rent of an account', usdc, 0n, 5_000n + 2_672_640n],
  ['a token at a price', usdc, 10_000n, 5_000n + 2_672_640n + 3_600n],
  ['a price above the cap', solanaChain.native, maxPrice * 9n, 5_000n + 300_000n],
])('%s', (_, token, price, fee) => {
  expect(bound(token, price)).toBe(fee);
});

it.each<FeeLevels>([{}, { price: 5 }, { price: '-1' }, { price: '1e3' }])('levels of another chain are refused: %j', (levels) => {
  expect(() => solanaFees.bound(solanaChain, usdc, levels)).toThrow('not of a Solana chain');
});

it('rent of a token account of the Token program is that of mainnet', () => {
  expect(maxFee({ units: 1, price: 0n, creates: 'token' }) - maxFee({ units: 1, price: 0n, creates: null })).toBe(2_039_280n);
});

const chains = Object.entries(solana).flatMap(([environment, list]) => list.map((chain) => [environment, chain] as const));
it.each(chains)('the chain of %s is named as its family does, by its genesis block, with valid tokens', (environment, chain) => {
  expect(chain.caip2).toBe(networks.find(({ family }) => family === chain.family)?.caip2);
  if (environment === 'local') expect([chain.genesisHash, chain.caip2]).toEqual([null, solana.production[0]?.caip2]);
  else expect(chain.caip2).toBe(`solana:${chain.genesisHash?.slice(0, 32)}`);
  expect(chain.native).toMatchObject({ decimals: 9, contract: null });
  for (const { contract, decimals, assetType } of chain.tokens) {
    expect(toBytes(contract as string)).toHaveLength(32);
    expect([decimals, assetType]).toEqual([6, 'SPL']);
  }
  expect(chain.finalityDepth).toBeGreaterThan(chain.confirmations);
  // the dearest message is signed
  expect(maxFee({ units: maxUnits, price: maxPrice, creates: 'token-2022' })).toBeLessThan(chain.maxNetworkFee);
});
