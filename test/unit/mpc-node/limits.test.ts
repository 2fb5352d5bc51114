import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { getFamily } from '../../../src/chains/families';
import { loadRegistry } from '../../../src/chains/registry';
import type { Spending } from '../../../src/mpc/admission';
import { NodeLimits, refusalBy } from '../../../src/mpc/limits';

const recipient = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const other = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';
const folder = mkdtempSync(path.join(tmpdir(), 'limits-'));
afterAll(() => rmSync(folder, { recursive: true }));

function read(content: object): NodeLimits {
  const file = path.join(folder, 'limits.json');
  writeFileSync(file, JSON.stringify(content));
  return NodeLimits.read(file, { registry: loadRegistry('local', ['ethereum', 'base']), getFamily });
}

const spends: Spending = { chain: 'ethereum', token: null, amount: 5n, fee: 100n, recipients: [recipient.toLowerCase()] };

describe.each<[string, object, string | RegExp]>([
  ['a token that it does not name', { chains: { ethereum: { maxFee: '100', tokens: {} } } }, /token is not allowed/],
  ['a denied address', { chains: { ethereum: { tokens: { native: {} }, deniedAddresses: [recipient] } } }, /recipient is denied/],
  [
    'an amount above the highest',
    { chains: { ethereum: { tokens: { native: { maxAmount: '4', maxPerDay: '4' } } } } },
    /amount is above/,
  ],
])('%s', (_what, content, reason) => {
  test('is refused, but not to a cancellation, which moves nothing', () => {
    const limits = read(content);
    expect(limits.refusal({ kind: 'first', spends })).toMatch(reason);
    expect(limits.refusal({ kind: 'cancellation', spends })).toBeNull();
  });
});

test('a chain that the file does not name is refused to a cancellation too: nothing there has a sum', () => {
  const limits = read({ chains: { base: { tokens: {} } } });
  for (const kind of ['first', 'replacement', 'cancellation'] as const)
    expect(limits.refusal({ kind, spends })).toMatch(/chain ethereum is not allowed/);
});

test('fees have sums of their own', () => {
  const limits = read({
    chains: {
      ethereum: { maxFee: '100', maxFeesPerKeyAndDay: '300', maxFeesPerDay: '500', tokens: { native: { maxPerDay: '7' } } },
    },
  });
  expect(limits.sums({ spends }).get('fees')).toEqual({ key: 300n, node: 500n });
  expect(limits.sums({ spends: { ...spends, chain: 'base' } })).toEqual(new Map());
  expect(limits.list()).toContainEqual({
    ...{ chain: 'ethereum', token: 'fees' },
    ...{ max_amount: '100', max_per_key_and_day: '300', max_per_day: '500' },
  });
});

test('the highest fee binds a cancellation too', () => {
  const limits = read({ chains: { ethereum: { maxFee: '99', tokens: {} } } });
  expect(limits.refusal({ kind: 'cancellation', spends })).toMatch(/fee is above/);
});

describe('settlements', () => {
  const settlement: Spending = { ...spends, token: 'gas', amount: 100n };

  test.each<[string, object, string | null]>([
    ['refused by a file that does not name their gas', { native: {} }, 'what the house pays is not allowed'],
    ['allowed by one that does', { gas: {} }, null],
    ['allowed up to the highest fee', { gas: { maxAmount: '100' } }, null],
    ['refused above it', { gas: { maxAmount: '99' } }, 'the amount is above the highest allowed'],
  ])('are %s', (_what, tokens, reason) => {
    const limits = read({ chains: { ethereum: { tokens } } });
    expect(limits.refusal({ kind: 'first', spends: settlement })).toBe(reason);
    expect(limits.refusal({ kind: 'replacement', spends: settlement })).toBe(reason);
    // a cancellation of the house costs it as much
    expect(limits.refusal({ kind: 'cancellation', spends: { ...settlement, recipients: [] } })).toBe(reason);
  });

  test('pay nobody who is denied', () => {
    const limits = read({ chains: { ethereum: { tokens: { gas: {} }, deniedAddresses: [recipient] } } });
    expect(limits.refusal({ kind: 'first', spends: settlement })).toMatch(/recipient is denied/);
  });

  test('have sums of their own, apart from those of the native coin', () => {
    const gas = { maxPerKeyAndDay: '1000', maxPerDay: '5000' };
    const limits = read({ chains: { ethereum: { tokens: { gas, native: { maxPerDay: '7' } } } } });
    expect(limits.sums({ spends: settlement }).get('gas')).toEqual({ key: 1_000n, node: 5_000n });
    expect(limits.sums({ spends }).get('')).toEqual({ key: null, node: 7n });
    expect(limits.list()).toContainEqual(expect.objectContaining({ token: 'gas', max_per_day: '5000' }));
  });
});

describe('coins that leave the house', () => {
  const withdrawal: Spending = { ...spends, purpose: 'withdrawal' };
  const nowhere = 'the recipient is no destination of the house';
  const withDestinations = (houseDestinations: string[] | undefined, tokens: object = { native: {} }) =>
    read({ chains: { ethereum: { tokens, ...(houseDestinations && { houseDestinations }) }, base: { tokens } } });

  test.each<[string, NodeLimits | null, string | null]>([
    ['nowhere without limits', null, nowhere],
    ['nowhere without destinations', withDestinations(undefined), nowhere],
    ['nowhere but to these', withDestinations([other]), nowhere],
    ['to one of these', withDestinations([other, recipient]), null],
    [
      'within the limits of the native coin',
      withDestinations([recipient], { native: { maxAmount: '4' } }),
      'the amount is above the highest allowed',
    ],
    ['only where the native coin is allowed', withDestinations([recipient], { gas: {} }), 'the token is not allowed'],
  ])('may go %s', (_what, limits, reason) => {
    expect(refusalBy(limits, { kind: 'first', spends: withdrawal })).toBe(reason);
    expect(refusalBy(limits, { kind: 'replacement', spends: withdrawal })).toBe(reason);
    expect(refusalBy(limits, { kind: 'cancellation', spends: { ...spends, recipients: [] } })).toBeNull();
  });

  test('a destination is one of its own chain, and binds nobody else', () => {
    const limits = withDestinations([recipient]);
    expect(limits.refusal({ kind: 'first', spends: { ...withdrawal, chain: 'base' } })).toBe(nowhere);
    expect(limits.refusal({ kind: 'first', spends: { ...spends, recipients: [other.toLowerCase()] } })).toBeNull();
  });

  test('a file with a destination that is no address is refused', () => {
    expect(() => withDestinations(['somewhere'])).toThrow(/somewhere is no address on ethereum/);
  });
});

describe('contracts that create wallets of payers', () => {
  const settled: Spending = { ...spends, token: 'gas', recipients: [] };
  const creation: Spending = { ...settled, factory: other.toLowerCase() };
  const refused = 'the factory of the wallet is not allowed';
  const withFactories = (walletFactories: string[] | undefined) =>
    read({
      chains: { ethereum: { tokens: { gas: {} }, ...(walletFactories && { walletFactories }) }, base: { tokens: { gas: {} } } },
    });

  test.each<[string, NodeLimits | null, string | null]>([
    ['none without limits', null, refused],
    ['none without a list', withFactories(undefined), refused],
    ['none but these', withFactories([recipient]), refused],
    ['one of these', withFactories([recipient, other]), null],
    [
      'what pays no gas',
      read({ chains: { ethereum: { tokens: {}, walletFactories: [other] } } }),
      'what the house pays is not allowed',
    ],
  ])('%s', (_what, limits, reason) => {
    expect(refusalBy(limits, { kind: 'first', spends: creation })).toBe(reason);
    expect(refusalBy(limits, { kind: 'replacement', spends: creation })).toBe(reason);
  });

  test('a list is of its own chain, and binds nothing else', () => {
    const limits = withFactories([other]);
    expect(limits.refusal({ kind: 'first', spends: { ...creation, chain: 'base' } })).toBe(refused);
    expect(limits.refusal({ kind: 'first', spends: settled })).toBeNull();
    expect(refusalBy(null, { kind: 'first', spends: settled })).toBeNull();
  });

  test('a file with a factory that is no address is refused', () => {
    expect(() => withFactories(['somewhere'])).toThrow(/somewhere is no address on ethereum/);
  });
});

describe('consolidations', () => {
  const consolidation: Spending = { ...spends, token: 'consolidation', amount: 100n, recipients: [] };

  test.each<[string, object, string | null]>([
    [
      'refused by a file that does not name them, whatever else it allows',
      { native: {}, gas: {} },
      'joining outputs is not allowed',
    ],
    ['allowed up to their highest fee', { consolidation: { maxAmount: '100' } }, null],
    ['refused above it', { consolidation: { maxAmount: '99' } }, 'the amount is above the highest allowed'],
  ])('are %s', (_what, tokens, reason) => {
    const limits = read({ chains: { ethereum: { tokens } } });
    expect(limits.refusal({ kind: 'first', spends: consolidation })).toBe(reason);
    expect(limits.refusal({ kind: 'replacement', spends: consolidation })).toBe(reason);
  });

  test('have sums of their own, beside those of fees', () => {
    const own = { maxPerKeyAndDay: '1000', maxPerDay: '5000' };
    const tokens = { consolidation: own, gas: {}, native: { maxPerDay: '7' } };
    const limits = read({ chains: { ethereum: { maxFeesPerDay: '9', tokens } } });
    expect(limits.sums({ spends: consolidation })).toEqual(
      new Map([
        ['fees', { key: null, node: 9n }],
        ['consolidation', { key: 1_000n, node: 5_000n }],
      ]),
    );
  });
});
