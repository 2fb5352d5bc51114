import { getFamily } from '../../../src/chains/families';
import { loadRegistry } from '../../../src/chains/registry';
import type { FeeLevels } from '../../../src/chains/types';

/** Fee levels in the database that another release has stored, which no release can know. */

const names = loadRegistry('local', ['ethereum', 'bitcoin', 'tron', 'solana']).all.map((chain) => [chain.name, chain] as const);

test.each(names)('of %s: the fees are not known, which passes, and is no fault of a request', (_, chain) => {
  const { fees } = getFamily(chain.family);
  const number = 'by the hundred';
  const texts = { baseFee: number, priorityFee: number, gasPrice: number, l1DataFee: number, rate: number, price: number };
  const more = { bandwidthPrice: number, energyPrice: number, newAccountFee: number, memoFee: number, penalties: {} };
  const stored: FeeLevels[] = [{}, { unknown: '7' }, { ...texts, ...more }];
  for (const levels of stored)
    expect(() => fees.bound(chain, chain.native, levels)).toThrow(expect.objectContaining({ code: 'chain_unavailable' }));
});
