import { address } from '@solana/kit';
import { parseUnits } from 'viem';
import { associatedTokenAddress } from '../../../dev/solana/addresses';
import { programs } from '../../../dev/solana/parameters';
import type { Prepared } from '../../../src/chains/types';
import { verifyLedger } from '../../../src/ledger/verify';
import { observationSignaller } from '../../../src/transfers/start/workflows';
import { solanaFixture } from '../../families/solana';
import { sol, usdc } from '../../solana-chain';
import { ServedChain, until } from '../transfers/served';
import { createSolanaFixture, type SolanaFixture } from './fixture';

jest.setTimeout(120_000);

/** Payments of the same amount to the same recipient: a block hash alone would make one message of them, which the chain executes once. */

const served = new ServedChain<SolanaFixture>(async () => {
  const fixture = await createSolanaFixture();
  await fixture.send(fixture.alice, sol(10));
  await fixture.send(fixture.alice, 500_000_000n, 'USDC');
  await fixture.mine(fixture.chain.confirmations);
  await fixture.follow();
  return fixture;
});
let to: string;
beforeEach(() => {
  to = solanaFixture.newAddress();
});

const each = { SOL: '0.01', USDC: '1' };
const submit = (count: number, tokenSymbol: keyof typeof each) =>
  Promise.all(Array.from({ length: count }, () => served.submit({ tokenSymbol, amount: each[tokenSymbol], toAddress: to })));
const statuses = (ids: string[]) => Promise.all(ids.map((id) => served.status(id)));
const areAll = async (ids: string[], status: string) => (await statuses(ids)).every((it) => it === status);
const messages = async (ids: string[]) => {
  const { attempts } = served.fixture;
  return (await Promise.all(ids.map(attempts))).flatMap((list) => list.map(({ message_key: key }) => String(key)));
};
/** What the recipient has, atomic units. */
async function received(symbol: keyof typeof each): Promise<bigint> {
  const { solana } = served.fixture;
  if (symbol === 'SOL') return solana.balance(to);
  const account = await associatedTokenAddress(address(to), usdc, programs.token);
  return BigInt((await solana.rpc.getTokenAccountBalance(account, { commitment: 'processed' }).send()).value.amount);
}

/** All are executed, each once. */
const end = async (ids: string[]) => {
  const { alice, mine, follow, balance, solana, database } = served.fixture;
  await until('all are CONFIRMED', async () => {
    await mine();
    await follow({ signalTransfer: observationSignaller(served.client) });
    return areAll(ids, 'CONFIRMED');
  });
  expect(new Set(await messages(ids)).size).toBe(ids.length);
  expect(await balance(alice, 'SOL')).toEqual({ available: await solana.balance(alice.address), locked: 0n });
  expect(await verifyLedger(database.manager)).toEqual([]);
};

test.each([
  ['SOL', 30],
  ['USDC', 10],
] as const)('many of %s while there is one block to refer to: all are sent, and arrive', async (symbol, count) => {
  await served.serve();
  const ids = await submit(count, symbol);
  // no block is made until then
  await until('all are sent', () => areAll(ids, 'SUBMITTED'));
  await end(ids);
  expect(await received(symbol)).toBe(BigInt(count) * parseUnits(each[symbol], symbol === 'SOL' ? 9 : 6));
});

test('two that are the same message by chance: the second is prepared anew, and both arrive', async () => {
  let given: Promise<Prepared> | undefined;
  let preparations = 0;
  await served.serve({
    chain: {
      // the first preparation of each is the same one
      prepareAttempt: (input) => {
        preparations += 1;
        given ??= served.fixture.onChain.prepareAttempt(input);
        return preparations <= 2 ? given : served.fixture.onChain.prepareAttempt(input);
      },
    },
  });
  const ids = await submit(2, 'SOL');
  await until('both are sent', () => areAll(ids, 'SUBMITTED'));
  expect(preparations).toBeGreaterThan(2);
  await end(ids);
  expect(await received('SOL')).toBe(20_000_000n);
});
