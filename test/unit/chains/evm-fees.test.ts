import { EndpointFault } from '../../../src/chains/endpoints';
import {
  assertBelievable,
  assumedGas,
  encodeLevels,
  evmFees,
  type EvmFeeLevels,
  gasLimitFrom,
  highestGas,
  isAboveStep,
  planFees,
} from '../../../src/chains/evm/fees';
import { maxSettlementGas, maxSettlementGasAnywhere } from '../../../src/chains/evm/payments/calldata';
import { tokenBySymbol } from '../../../src/chains/registry';
import { getChains } from '../../../src/chains/registry/data';
import type { ChainDefinition, TokenDefinition } from '../../../src/chains/types';
import type { PlannedFees } from '../../../src/chains/evm/fees';
import { buildEvm } from '../../evm';
import { authorizationPlan, toSettlementIntent } from '../../evm-settlements';

const gwei = 10n ** 9n;
const chain = (name: string) => getChains('production').find((candidate) => candidate.name === name) as ChainDefinition;
const usdc = tokenBySymbol(chain('ethereum'), 'USDC') as TokenDefinition;
const levels: EvmFeeLevels = { baseFee: 10n * gwei, priorityFee: gwei, gasPrice: 11n * gwei, l1DataFee: 0n };
const legacy: EvmFeeLevels = { baseFee: null, priorityFee: null, gasPrice: 10n * gwei, l1DataFee: 0n };

const bound = (of: ChainDefinition, token: TokenDefinition, now: EvmFeeLevels) => evmFees.bound(of, token, encodeLevels(now));

const evmChains = getChains('production').filter(({ family }) => family === 'evm');

test.each(evmChains.map((of) => [of.name, of] as const))(
  'on %s each level has a cap in the registry, and what is above it is not believed',
  (_, of) => {
    const { gasPrice, priorityFee } = of.highestFeeLevels ?? {};
    const [price, tip] = [BigInt(gasPrice as string), BigInt(priorityFee as string)];
    const highest: EvmFeeLevels = { baseFee: price, priorityFee: tip, gasPrice: price, l1DataFee: of.maxNetworkFee };
    expect(() => assertBelievable(of, highest)).not.toThrow();
    for (const [level, words] of [
      ['baseFee', `a base fee of ${price + 1n}`],
      ['gasPrice', `a gas price of ${price + 1n}`],
      ['priorityFee', `a tip of ${tip + 1n}`],
      ['l1DataFee', `an L1 data fee of ${of.maxNetworkFee + 1n}`],
    ] as const) {
      const above = { ...highest, [level]: (highest[level] ?? 0n) + 1n };
      expect(() => assertBelievable(of, above)).toThrow(new EndpointFault('fees_not_believed', `${words} is not believed`));
    }
  },
);

const unsigned = (fees: PlannedFees) =>
  buildEvm({
    chainId: 1,
    kind: 'first',
    nonce: 0,
    from: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    to: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    tokenContract: null,
    amount: 1n,
    gasLimit: 21_000n,
    ...fees,
  });

describe('fees', () => {
  it('cap is twice the base fee and the tip', () => {
    expect(planFees(levels, null)).toEqual({ maxFeePerGas: 21n * gwei, maxPriorityFeePerGas: gwei, gasPrice: null });
  });

  it('legacy where blocks have no base fee', () => {
    expect(planFees(legacy, null)).toEqual({ maxFeePerGas: null, maxPriorityFeePerGas: null, gasPrice: 11n * gwei });
  });

  it('a replacement is above its predecessor by 12.5 % at least, in cap and tip', () => {
    let previous = planFees(levels, null);
    for (let attempt = 2; attempt <= 6; attempt += 1) {
      const next = planFees(levels, unsigned(previous));
      expect((next.maxFeePerGas as bigint) * 1000n).toBeGreaterThanOrEqual((previous.maxFeePerGas as bigint) * 1125n);
      expect((next.maxPriorityFeePerGas as bigint) * 1000n).toBeGreaterThanOrEqual(
        (previous.maxPriorityFeePerGas as bigint) * 1125n,
      );
      previous = next;
    }
  });

  it('a replacement follows the market when that has risen more', () => {
    const risen = { ...levels, baseFee: 100n * gwei };
    expect(planFees(risen, unsigned(planFees(levels, null))).maxFeePerGas).toBe(201n * gwei);
  });

  it('what the chain takes now is above an attempt in cap or in tip, or in neither', () => {
    const before = unsigned(planFees({ ...levels, baseFee: 50n * gwei, priorityFee: gwei }, null));
    const isAbove = (baseFee: bigint, priorityFee: bigint) =>
      isAboveStep(before, planFees({ ...levels, baseFee: baseFee * gwei, priorityFee: priorityFee * gwei }, before));
    expect([isAbove(20n, 30n), isAbove(90n, 1n), isAbove(50n, 1n), isAbove(20n, 1n)]).toEqual([true, true, false, false]);
    const old = unsigned(planFees(legacy, null));
    const next = (gasPrice: bigint) => isAboveStep(old, planFees({ ...legacy, gasPrice: gasPrice * gwei }, old));
    expect([next(20n), next(10n)]).toEqual([true, false]);
  });

  it('a legacy attempt is replaced by a legacy one, even of nothing', () => {
    expect(planFees(legacy, unsigned({ maxFeePerGas: null, maxPriorityFeePerGas: null, gasPrice: 20n * gwei })).gasPrice).toBe(
      22_500_000_000n,
    );
    expect(planFees({ ...legacy, gasPrice: 0n }, null).gasPrice).toBe(1n);
    expect(planFees(levels, unsigned({ maxFeePerGas: null, maxPriorityFeePerGas: null, gasPrice: gwei }))).toMatchObject({
      maxFeePerGas: null,
      gasPrice: 21n * gwei,
    });
  });

  it('the bound has room for five replacements at unchanged levels', () => {
    const locked = bound(chain('ethereum'), usdc, levels);
    let fees = planFees(levels, null);
    for (let attempt = 2; attempt <= 6; attempt += 1) fees = planFees(levels, unsigned(fees));
    expect(assumedGas(usdc) * (fees.maxFeePerGas as bigint)).toBeLessThanOrEqual(locked);
  });

  it('the bound holds the L1 data fee twice on the OP stack, and the gas overhead of arbitrum', () => {
    const native = chain('base').native;
    const withL1 = { ...levels, l1DataFee: 777n };
    expect(bound(chain('base'), native, withL1) - bound(chain('base'), native, levels)).toBe(1_554n);
    expect(bound(chain('arbitrum'), native, levels)).toBeGreaterThan(bound(chain('ethereum'), native, levels));
  });

  it('gas of a plain transfer is exact, of anything else with a margin', () => {
    const most = 30_000_000n;
    expect(gasLimitFrom(21_000n, null, most)).toBe(21_000n);
    expect(gasLimitFrom(48_000n, null, most)).toBe(60_000n);
    const replaced = buildEvm({
      chainId: 1,
      kind: 'first',
      nonce: 0,
      from: usdc.contract as string,
      to: usdc.contract as string,
      tokenContract: null,
      amount: 1n,
      gasLimit: 70_000n,
      maxFeePerGas: 1n,
      maxPriorityFeePerGas: 1n,
      gasPrice: null,
    });
    expect(gasLimitFrom(48_000n, replaced, most)).toBe(70_000n);
  });

  it('gas of a settlement has a cap, which the margin does not exceed; its estimate on arbitrum contains more than its execution', () => {
    const settlement = toSettlementIntent(authorizationPlan);
    const [cap, ofArbitrum] = ['ethereum', 'arbitrum'].map((name) => highestGas(chain(name), settlement)) as [bigint, bigint];
    expect([cap, ofArbitrum]).toEqual([500_000n, 700_000n]);
    for (const { estimateOverhead = 0 } of getChains('production'))
      expect(maxSettlementGas + BigInt(estimateOverhead)).toBeLessThanOrEqual(maxSettlementGasAnywhere);
    expect(gasLimitFrom(480_000n, null, cap)).toBe(500_000n);
    expect(gasLimitFrom(480_000n, null, ofArbitrum)).toBe(600_000n);
  });
});
