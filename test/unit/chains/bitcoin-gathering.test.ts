import { toOutputScript } from '../../../src/chains/bitcoin/codec/address';
import { maxInputs, sum } from '../../../src/chains/bitcoin/codec/transaction';
import { keepFor, selectSmall, type SmallCoins } from '../../../src/chains/bitcoin/gather';
import { regtest } from '../../../src/chains/bitcoin/network';
import { dustLimit, inputSize, virtualSize } from '../../../src/chains/bitcoin/sizes';
import { buildBitcoin, coin } from '../../bitcoin';

const from = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080';
const script = toOutputScript(regtest, from);
const coins = (count: number, amount = 1_000n) => Array.from({ length: count }, (_, index) => coin(index + 1, amount));
const select = (changes: Partial<SmallCoins> = {}) =>
  selectSmall({ script, rate: 2n, small: coins(10), kept: new Set(), most: maxInputs, ...changes });

describe('which small outputs are joined', () => {
  it('the first ones, as many as are wanted, at exactly the rate', () => {
    const small = coins(10);
    expect(select({ small, most: 4 })).toEqual({ coins: small.slice(0, 4), fee: 2n * virtualSize(4, [script]) });
    expect(select({ small })?.coins).toEqual(small);
  });

  it('none that are left for transfers', () => {
    const small = coins(5);
    const kept = new Set(small.slice(0, 2).map(({ resource }) => resource));
    expect(select({ small, kept })?.coins).toEqual(small.slice(2));
    expect(select({ small, kept: new Set(small.slice(1).map(({ resource }) => resource)) })).toBeNull();
  });

  it('never one alone, and nothing of which dust would be left', () => {
    expect(select({ small: coins(1) })).toBeNull();
    expect(select({ small: [] })).toBeNull();
    const least = 2n * virtualSize(2, [script]) + dustLimit(script);
    expect(select({ small: [coin(1, least / 2n), coin(2, least - least / 2n)] })).not.toBeNull();
    expect(select({ small: [coin(1, least / 2n), coin(2, least - least / 2n - 1n)] })).toBeNull();
  });

  it('for 2 to 64 inputs and many rates: inputs = output + fee, which the codec builds and reads', () => {
    for (const rate of [1n, 7n, 100n])
      for (let count = 2; count <= maxInputs; count += 7) {
        const selected = select({ rate, small: coins(count, rate * inputSize + 50n * rate + 294n) });
        expect(selected?.coins).toHaveLength(count);
        if (!selected) continue;
        const unsigned = buildBitcoin({
          ...{ kind: 'first', from, coins: selected.coins, fee: selected.fee },
          payments: [{ to: from, amount: 0n }],
        });
        expect(unsigned).toMatch(/^0x/);
        expect(sum(selected.coins) - selected.fee).toBeGreaterThanOrEqual(dustLimit(script));
      }
  });
});

describe('what is left for waiting transfers', () => {
  const free = [coin(1, 9_000n), coin(2, 5_000n), coin(3, 1_000n)];
  const kept = (count: number, amount: bigint) => [...keepFor({ count, amount }, free)];
  const ids = (...indexes: number[]) => indexes.map((index) => free[index]?.resource);

  it('the biggest outputs, until they are as much as is needed, and one for each transfer', () => {
    expect(kept(1, 9_000n)).toEqual(ids(0));
    expect(kept(1, 9_001n)).toEqual(ids(0, 1));
    expect(kept(2, 10n)).toEqual(ids(0, 1));
    expect(kept(9, 10n)).toEqual(ids(0, 1, 2));
    expect(kept(1, 1_000_000n)).toEqual(ids(0, 1, 2));
  });
});
