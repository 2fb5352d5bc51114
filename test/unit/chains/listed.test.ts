import type { DataSource } from 'typeorm';
import { chainRoutes } from '../../../src/assets/chain-routes';
import type { ChainView } from '../../../src/assets/chain-schema';
import { getFamily } from '../../../src/chains/families';
import { type ChainRegistry, loadRegistry } from '../../../src/chains/registry';
import { encodeLevels } from '../../../src/chains/tron/fees';
import type { ChainDefinition, FeeLevels } from '../../../src/chains/types';
import type { DocumentedMiddleware } from '../../../src/http/route';
import { tronChain, usdtContract } from '../../tron';

/** What GET /chains says of chains for whom these levels are stored. */
async function list(all: ChainDefinition[], levels: Record<string, FeeLevels>): Promise<ChainView[]> {
  const rows = Object.entries(levels).map(([chain, stored]) => ({ chain, fee_levels: stored }));
  const [route] = chainRoutes({
    database: { manager: { query: () => Promise.resolve(rows) } } as unknown as DataSource,
    registry: { all } as ChainRegistry,
    getFamily,
    authenticate: (() => undefined) as unknown as DocumentedMiddleware,
  });
  const ctx = { body: undefined as unknown };
  await route?.handle(ctx as never);
  return (ctx.body as { data: ChainView[] }).data;
}

test('a token whose fees are not stored yet has none, and all others have theirs', async () => {
  const tron = tronChain();
  const levels = {
    ...{ bandwidthPrice: 1_000n, energyPrice: 100n, newAccountFee: 1_100_000n, memoFee: 1_000_000n },
    penalties: new Map([[usdtContract, 0n]]),
  };
  const [shown] = await list([tron], { [tron.name]: encodeLevels(levels) });
  const fees = [shown?.native, ...(shown?.tokens ?? [])].map((token) => [token?.symbol, token?.network_fee]);
  // of TRX, which has six decimals
  expect(Object.fromEntries(fees)).toEqual({ TRX: '1.4', USDT: '4.4', USDC: null });
});

test('of levels that cannot be read, as of another release, no fee is shown', async () => {
  const tron = tronChain();
  const [shown] = await list([tron], { [tron.name]: { rate: '2' } });
  expect([shown?.native, ...(shown?.tokens ?? [])].map((token) => token?.network_fee)).toEqual([null, null, null]);
});

test('the smallest amounts: of a P2PKH output on Bitcoin, of a new account on Solana', async () => {
  const chains = loadRegistry('sandbox', ['bitcoin', 'solana']).all;
  const shown = await list([...chains], {});
  expect(shown.map(({ chain, minimum_amount: amount }) => [chain, amount?.amount])).toEqual([
    ['bitcoin', '0.00000546'],
    ['solana', '0.00089088'],
  ]);
});
