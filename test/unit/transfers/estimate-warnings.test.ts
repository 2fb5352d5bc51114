import { loadRegistry } from '../../../src/chains/registry';
import { findWarnings } from '../../../src/transfers/accept/estimate-warnings';

const solana = loadRegistry('local', ['solana']).get('solana');
const account = (symbol: string, available: bigint, taken: bigint) => ({ symbol, available, taken, isFrozen: false });
const codes = (...[balances, minimumBalance, isBehindParked = false]: [ReturnType<typeof account>[], bigint?, boolean?]) =>
  findWarnings({ chain: solana, balances, minimumBalance, isBehindParked }).map(({ code }) => code);

test('minimum_balance: where the coin that pays the fee may keep less than the chain demands', () => {
  expect(codes([account('SOL', 1_000n, 101n)], 900n)).toEqual(['minimum_balance']);
  expect(codes([account('SOL', 1_000n, 100n)], 900n)).toEqual([]);
  // the fee may take less than its bound, so that something is left
  expect(codes([account('SOL', 1_000n, 1_000n)], 900n)).toEqual(['minimum_balance']);
  expect(codes([account('SOL', 1_000n, 1_000n)])).toEqual([]);
  expect(codes([account('USDC', 5n, 5n), account('SOL', 1_000n, 100n)], 900n)).toEqual([]);
  expect(codes([account('USDC', 5n, 5n), account('SOL', 1_000n, 101n)], 900n)).toEqual(['minimum_balance']);
});

test('the message names the amount in display units', () => {
  const [warning] = findWarnings({
    ...{ chain: solana, balances: [account('SOL', 1n, 1n)] },
    ...{ minimumBalance: 890_880n, isBehindParked: false },
  });
  expect(warning?.message).toContain('less than 0.00089088 SOL: solana refuses');
});

test('waits_for_operator', () => {
  expect(codes([account('SOL', 1_000n, 100n)], 0n, true)).toEqual(['waits_for_operator']);
});
