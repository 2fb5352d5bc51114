import type { EntityManager } from 'typeorm';
import { getFamily } from '../../../src/chains/families';
import {
  assertBelievable,
  assertPenalty,
  decodeLevels,
  encodeLevels,
  nextPenalty,
  penaltyOf,
  tronFees,
  type TronFeeLevels,
  withPenalty,
} from '../../../src/chains/tron/fees';
import { tronChain, usdtContract } from '../../tron';

const levels: TronFeeLevels = {
  ...{ bandwidthPrice: 1_000n, energyPrice: 100n, newAccountFee: 1_100_000n, memoFee: 1_000_000n },
  penalties: new Map([[usdtContract, 34_000n]]),
};

it('levels are read as they were written, and nothing else is', () => {
  expect(decodeLevels(encodeLevels(levels))).toEqual(levels);
  expect(() => decodeLevels({ rate: '2' })).toThrow('not of a Tron chain');
  expect(() => decodeLevels({ ...encodeLevels(levels), energyPrice: '-1' })).toThrow('not of a Tron chain');
});

it('what is above the registry, or the range of the protocol, is not believed', () => {
  const chain = tronChain();
  const usual = {
    ...{ bandwidthPrice: 1_000n, energyPrice: 100n, newAccountFee: 1_100_000n, memoFee: 1_000_000n },
    ...{ maxFeeLimit: 15_000_000_000n, penaltyIncrease: 2_000n, highestPenalty: 34_000n },
  };
  const highest = {
    ...{ bandwidthPrice: 7_000n, energyPrice: 700n, newAccountFee: 7_700_000n, memoFee: 7_000_000n },
    ...{ penaltyIncrease: 10_000n, highestPenalty: 100_000n },
  };
  assertBelievable(chain, { ...usual, ...highest });
  for (const [name, value] of Object.entries(highest))
    expect(() => assertBelievable(chain, { ...usual, [name]: value + 1n })).toThrow(`${name} ${value + 1n} is not believed`);
  assertPenalty(100_000n);
  expect(() => assertPenalty(100_001n)).toThrow('not believed');
});

it('TRX: bandwidth that is burnt, and a new account', () => {
  const chain = tronChain();
  // 268 bytes are billed
  expect(tronFees.bound(chain, chain.native, encodeLevels(levels))).toBe(300_000n + 1_100_000n);
});

it('USDT at the highest penalty: more than a transfer to a new holder takes today', () => {
  const chain = tronChain();
  const [usdt, usdc] = chain.tokens;
  const bound = usdt ? tronFees.bound(chain, usdt, encodeLevels(levels)) : 0n;
  expect(bound).toBeGreaterThan(130_285n * 100n + 345_000n);
  expect(bound).toBe(400_000n + 176_000n * 100n);
  expect(() => usdc && tronFees.bound(chain, usdc, encodeLevels(levels))).toThrow(
    'The fees of USDC on tron are currently not known',
  );
});

it('a penalty is what the energy says, and grows by a fifth at most, up to the highest', () => {
  expect([penaltyOf(1_000n, 0n), penaltyOf(4_400n, 3_400n), penaltyOf(5n, 5n)]).toEqual([0n, 34_000n, 0n]);
  expect([withPenalty(29_650n, 34_000n), withPenalty(3n, 5_000n)]).toEqual([130_460n, 5n]);
  const growth = { increase: 2_000n, highest: 34_000n };
  expect([0n, 10_000n, 30_000n, 34_000n, 40_000n].map((penalty) => nextPenalty(penalty, growth))).toEqual([
    ...[2_000n, 14_000n, 34_000n, 34_000n, 40_000n],
  ]);
});

it('fees are locked by the levels that are stored; TRX to the account itself is refused, as by the chain', async () => {
  const chain = tronChain();
  const family = getFamily(chain.family);
  const [from, to] = ['TVjsyZ7fYF3qLF6BQgPmTEZy1xrNNyVAAA', 'TJzXt1sZautjqXnpjQT4xSCBHNSYgBkDr3'];
  const addressKey = family.parseAddress(from)?.key ?? '';
  const manager = { query: () => Promise.resolve([{ fee_levels: encodeLevels(levels) }]) } as unknown as EntityManager;
  const ask = (recipient: string, token = chain.native) =>
    family.bound(manager, {
      ...{ chain, token, source: { chain: 'tron', accountId: 'a', addressKey } },
      outputs: [{ recipient, tokenContract: token.contract, amount: 1n }],
    });
  expect(await ask(to)).toBe(1_400_000n);
  await expect(ask(from)).rejects.toMatchObject({ code: 'business_error' });
  expect(await ask(from, chain.tokens[0])).toBe(18_000_000n);
});

it('the family waits, and makes a new transaction after proof of expiry', () => {
  for (const name of ['tron', 'tron-nile', 'tron-local'])
    expect(getFamily(name).rules).toEqual({ stuck: 'rebroadcast', expired: 'reissue', abandoned: 'expiry' });
});
