import { toOutputScript } from '../../../src/chains/bitcoin/codec/address';
import { decode, getFee, getVirtualSize } from '../../../src/chains/bitcoin/codec/transaction';
import { assertBelievable, decodeLevels, planRate } from '../../../src/chains/bitcoin/fees';
import { regtest } from '../../../src/chains/bitcoin/network';
import { selectCoins } from '../../../src/chains/bitcoin/select';
import { bitcoin } from '../../../src/chains/registry/bitcoin';
import { buildBitcoin, coin } from '../../bitcoin';

const from = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080';
const to = 'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn';
const held = coin(1, 100_000n);
const attempt = (fee: bigint, amount = 50_000n) =>
  buildBitcoin({ kind: 'first', from, payments: [{ to, amount }], coins: [held], fee });

it('a first attempt has the current rate', () => {
  expect(planRate(7n, [])).toEqual({ rate: 7n, outbid: 0n });
});

it('a later attempt outbids the dearest of the earlier ones by a quarter, at a higher rate than any of them', () => {
  // 144 virtual bytes
  expect(planRate(7n, [attempt(1_440n), attempt(2_900n)])).toEqual({ rate: 21n, outbid: 3_625n });
  expect(planRate(30n, [attempt(1_440n)])).toEqual({ rate: 30n, outbid: 1_800n });
});

it('a replacement that needs more inputs has a higher rate than what it replaces, after fees have fallen', () => {
  const script = toOutputScript(regtest, from);
  const payments = [{ script: toOutputScript(regtest, to), amount: 97_000n }];
  const first = decode(attempt(3_000n, 97_000n));
  const { rate, outbid } = planRate(1n, [attempt(3_000n, 97_000n)]);
  const available = Array.from({ length: 30 }, (_, index) => coin(2 + index, 6_000n));
  const selected = selectCoins(regtest, { script, payments, rate, outbid, required: [held], available });
  expect(selected.outcome).toBe('selected');
  if (selected.outcome !== 'selected') return;
  expect(selected.coins).toHaveLength(2);
  // in satoshis per virtual byte, without a division
  expect(selected.fee * getVirtualSize(first)).toBeGreaterThan(getFee(first) * selected.size);
});

it.each(Object.values(bitcoin).flat())('the rate of $name ($network) while no node estimates one is believable', (chain) => {
  const rate = decodeLevels(chain.fallbackFeeLevels ?? {});
  expect(() => assertBelievable(chain, rate)).not.toThrow();
});
