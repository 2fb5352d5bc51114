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

test.each(['baseFee', 'priorityFee', 'gasPrice', 'l1DataFee'])(
  'of an EVM chain, where %s alone cannot be read: the same',
  (name) => {
    const chain = loadRegistry('local', ['ethereum']).get('ethereum');
    const levels: FeeLevels = { baseFee: '7', priorityFee: '1', gasPrice: '8', l1DataFee: '0' };
    const bound = (stored: FeeLevels) => getFamily(chain.family).fees.bound(chain, chain.native, stored);
    expect(() => bound(levels)).not.toThrow();
    for (const other of ['0x7', 7, undefined] as string[])
      expect(() => bound({ ...levels, [name]: other })).toThrow(expect.objectContaining({ code: 'chain_unavailable' }));
  },
);
