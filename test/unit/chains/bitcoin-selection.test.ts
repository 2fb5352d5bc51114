import fc from 'fast-check';
import { toOutputScript } from '../../../src/chains/bitcoin/codec/address';
import { type Coin, getFee, getVirtualSize, maxInputs, sum } from '../../../src/chains/bitcoin/codec/transaction';
import { regtest } from '../../../src/chains/bitcoin/network';
import { selectCoins, type SelectionRequest } from '../../../src/chains/bitcoin/select';
import { dustLimit } from '../../../src/chains/bitcoin/sizes';
import { coin } from '../../bitcoin';

const script = toOutputScript(regtest, 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080');
/** P2PKH and P2TR. */
const others = [
  toOutputScript(regtest, 'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn'),
  toOutputScript(regtest, 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0'),
];
const coins = (amounts: bigint[], from = 0) => amounts.map((amount, index) => coin(from + index, amount));
const request = (changes: Partial<SelectionRequest>): SelectionRequest => ({
  script,
  payments: [{ script: others[0] as Uint8Array, amount: 50_000n }],
  rate: 10n,
  outbid: 0n,
  required: [],
  available: coins([20_000n, 100_000n, 30_000n]),
  ...changes,
});
const select = (changes: Partial<SelectionRequest>) => selectCoins(regtest, request(changes));

it('one input is enough where one suffices', () => {
  expect(select({})).toMatchObject({ outcome: 'selected', coins: coins([100_000n], 1) });
});

it('one input is taken in place of many that fit better', () => {
  const small = coins(Array.from({ length: 80 }, () => 2_000n));
  const available = [...small, coin(200, 900_000n)];
  const payments = [{ script: others[0] as Uint8Array, amount: 93_000n }];
  expect(select({ available, payments })).toMatchObject({ outcome: 'selected', coins: [coin(200, 900_000n)] });
});

it('what must be spent comes first, in its order, even if it is not needed', () => {
  const required = coins([400n, 60_000n], 50);
  const chosen = select({ required });
  expect(chosen).toMatchObject({ outcome: 'selected' });
  if (chosen.outcome === 'selected') expect(chosen.coins.slice(0, 2)).toEqual(required);
});

it('what is left over is change from the dust limit on, and fee below it', () => {
  const fee = (amount: bigint) => {
    const chosen = select({ available: coins([amount]) });
    return chosen.outcome === 'selected' ? chosen.fee : null;
  };
  // 113 virtual bytes with one input and the payment, 31 more with change
  expect(fee(50_000n + 1_130n)).toBe(1_130n);
  expect(fee(50_000n + 1_129n)).toBeNull();
  expect(fee(50_000n + 1_440n + 294n)).toBe(1_734n);
  expect(fee(50_000n + 1_440n + 295n)).toBe(1_440n);
});

it('coins that do not suffice are told from those that are too many', () => {
  expect(select({ available: coins([20_000n, 30_000n]) })).toEqual({ outcome: 'insufficient' });
  expect(select({ available: [] })).toEqual({ outcome: 'insufficient' });
  const small = (count: number) => coins(Array.from({ length: count }, () => 1_400n));
  // each adds 720 to what they can pay
  expect(select({ available: small(64) })).toEqual({ outcome: 'insufficient' });
  expect(select({ available: small(70) })).toEqual({ outcome: 'insufficient' });
  expect(select({ available: small(72) })).toEqual({ outcome: 'too_many' });
  expect(select({ available: small(100) })).toEqual({ outcome: 'too_many' });
});

it('many coins take no longer than as many as fit into a transaction', () => {
  const all = coins(Array.from({ length: 1_000 }, (_, index) => 2_000n + BigInt(index)));
  const time = (available: Coin[], payments: SelectionRequest['payments']) => {
    const began = performance.now();
    select({ available, payments });
    return performance.now() - began;
  };
  const fastest = (available: Coin[], amount: bigint) =>
    Math.min(...Array.from({ length: 8 }, () => time(available, [{ script: others[0] as Uint8Array, amount }])));
  expect(fastest(all, 100_000n)).toBeLessThan(5 * fastest(all.slice(-65), 100_000n));
});

it('without payments everything but the fee goes back to the sender', () => {
  const chosen = select({ payments: [], required: coins([5_000n]), available: [] });
  expect(chosen).toEqual({ outcome: 'selected', coins: coins([5_000n]), fee: 1_100n, size: 110n });
  expect(select({ payments: [], required: coins([1_393n]), available: [] })).toEqual({ outcome: 'insufficient' });
  expect(select({ payments: [], required: coins([1_394n]), available: [] })).toMatchObject({ fee: 1_100n });
});

it('a transaction without payments takes further coins where a single one leaves too little, the biggest first', () => {
  const required = coins([1_300n], 80);
  const chosen = select({ payments: [], required });
  expect(chosen).toEqual({ outcome: 'selected', coins: [...required, coin(1, 100_000n)], fee: 1_780n, size: 178n });
  // a coin that costs more than it is worth does not help
  const small = coins([400n, 300n], 90);
  expect(select({ payments: [], required, available: small })).toEqual({ outcome: 'insufficient' });
  const many = coins(Array.from({ length: 70 }, () => 681n));
  expect(select({ payments: [], required, available: many })).toMatchObject({ outcome: 'too_many' });
});

it('a fee that has to outbid another one does so by 1 satoshi per virtual byte, with further coins where it needs them', () => {
  const required = coins([52_000n], 70);
  const chosen = select({ required, outbid: 4_000n });
  expect(chosen).toMatchObject({ outcome: 'selected', coins: [...required, coin(1, 100_000n)] });
  if (chosen.outcome !== 'selected') return;
  expect(chosen.fee).toBeGreaterThanOrEqual(4_000n + chosen.size);
  expect(chosen.fee).toBeLessThanOrEqual(4_000n + 2n * chosen.size);
  // nothing more than usual where the rate has risen enough
  expect(select({ required, outbid: 100n })).toMatchObject({ outcome: 'selected', fee: 1_440n });
});

it('what depends on others pays what they lack, with further coins where it needs them', () => {
  const required = coins([52_000n], 70);
  const alone = select({ required, rate: 10n, package: { rate: 10n, deficit: 0n } });
  expect(alone).toEqual(select({ required, rate: 10n }));
  const chosen = select({ required, rate: 10n, package: { rate: 10n, deficit: 3_000n } });
  if (chosen.outcome !== 'selected') throw new Error(chosen.outcome);
  expect(chosen.fee).toBe(10n * chosen.size + 3_000n);
  // a replacement: its own rate is higher, and pays for others already
  const dear = select({ required, rate: 40n, outbid: 2_000n, package: { rate: 10n, deficit: 3_000n } });
  expect(dear).toMatchObject({ outcome: 'selected' });
  if (dear.outcome === 'selected') expect(dear.fee).toBe(40n * dear.size);
});

it('what is left over beside what others lack is change, also where the rate that pays for them left no room for it', () => {
  const payments = [{ script: others[0]!, amount: 754n }];
  const [required, available] = [coins([300n]), coins([614n, 2_081n], 1)];
  const chosen = select({ payments, required, available, rate: 1n, package: { rate: 1n, deficit: 1_485n } });
  if (chosen.outcome !== 'selected') throw new Error(chosen.outcome);
  expect(chosen.coins).toHaveLength(3);
  expect(chosen.fee).toBe(chosen.size + 1_485n);
});

it('of 1 to 500 coins: what goes in comes out, the fee is the rate by the size, and nothing is dust', () => {
  const amounts = fc.array(fc.oneof(fc.bigInt(300n, 5_000n), fc.bigInt(300n, 10n ** 10n)), { minLength: 1, maxLength: 500 });
  let selected = 0;
  fc.assert(
    fc.property(
      amounts,
      fc.constantFrom(...others),
      fc.bigInt(1n, 300n),
      fc.nat({ max: 1_000 }),
      fc.nat({ max: 2 }),
      fc.oneof(fc.constant(0n), fc.bigInt(0n, 20_000n)),
      (list, to, rate, share, held, deficit) => {
        const all = coins(list);
        const amount = (sum(all) * BigInt(share)) / 1_000n;
        fc.pre(amount >= dustLimit(to));
        const payments = [{ script: to, amount }];
        const others = { package: { rate, deficit } };
        const chosen = select({ payments, rate, ...others, required: all.slice(0, held), available: all.slice(held) });
        if (chosen.outcome !== 'selected') return;
        selected += 1;
        const change = sum(chosen.coins) - amount - chosen.fee;
        expect(change === 0n || change >= dustLimit(script)).toBe(true);
        expect(chosen.coins.length).toBeLessThanOrEqual(maxInputs);
        expect(new Set(chosen.coins.map(({ resource }) => resource)).size).toBe(chosen.coins.length);
        for (const { resource, amount: worth } of chosen.coins) expect(all).toContainEqual({ resource, amount: worth });
        const transaction = { coins: chosen.coins, script, payments, change };
        expect(getFee(transaction)).toBe(chosen.fee);
        const least = rate * getVirtualSize(transaction) + deficit;
        expect(chosen.fee).toBeGreaterThanOrEqual(least);
        // with change it is exact; without, no more than the change and what it would have cost
        expect(chosen.fee).toBeLessThanOrEqual(change > 0n ? least : least + 31n * rate + dustLimit(script));
      },
    ),
    { numRuns: 200 },
  );
  expect(selected).toBeGreaterThan(50);
});
