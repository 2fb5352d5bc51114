import { address } from '@solana/kit';
import { verifyLedger } from '../../../src/ledger/verify';
import { closeAssociated, createAssociated, sol, transferSol, transferToken } from '../../solana-chain';
import { throughProgram } from '../../solana-program';
import { throughTable } from '../../solana-table';
import { createSolanaFixture, type SolanaFixture } from './fixture';

/** Deposits from the blocks of the chain to the ledger. */

let fixture: SolanaFixture;
beforeEach(async () => {
  fixture = await createSolanaFixture();
});
afterEach(() => fixture.close());

/** Of atomic units, in the order in which they were found. */
const found = async () => (await fixture.inbound()).map(({ status, token_symbol: symbol, amount }) => [status, symbol, amount]);
/** Blocks that are not final yet. */
const mineProcessed = (blocks = 1) => fixture.solana.mine(blocks);
const creditedIs = async (SOL: bigint, USDC: bigint) => {
  const { alice, balance, database } = fixture;
  expect(await balance(alice, 'SOL')).toEqual({ available: SOL, locked: 0n });
  expect(await balance(alice, 'USDC')).toEqual({ available: USDC, locked: 0n });
  expect(await verifyLedger(database.manager)).toEqual([]);
};

test.each(['legacy', 0] as const)(
  'SOL and USDC of one transaction of version %s: each is credited once, when its block is final',
  async (version) => {
    const { solana, alice, follow, mine } = fixture;
    const payer = await solana.funded(sol(10), 50_000_000n);
    const signed = await solana.sign(
      payer,
      [
        transferSol(payer.address, alice.address, sol(1.5)),
        await createAssociated(payer.address, alice.address),
        await transferToken(payer.address, alice.address, 2_500_000n),
      ],
      undefined,
      version,
    );
    await solana.send(signed);
    await mineProcessed();
    await follow();
    expect(await found()).toEqual([]);
    await mine();
    await Promise.all([follow(), follow()]);
    expect((await found()).sort()).toEqual([
      ['CONFIRMED', 'SOL', String(sol(1.5))],
      ['CONFIRMED', 'USDC', '2500000'],
    ]);
    await creditedIs(sol(1.5), 2_500_000n);
  },
);

test.each([
  ['to accounts that a lookup table names', false, true],
  ['by a program that calls the others', true, false],
  ['by a program that calls the others, to accounts that a lookup table names', true, true],
])('SOL and USDC paid %s: each is credited once, when its block is final', async (_, program, table) => {
  const { solana, alice, follow, mine } = fixture;
  const payer = await solana.funded(sol(10), 50_000_000n);
  await solana.send(await solana.sign(payer, [await createAssociated(payer.address, alice.address)]));
  await mine();
  const paying = [
    transferSol(payer.address, alice.address, sol(1.5)),
    await transferToken(payer.address, alice.address, 2_500_000n),
  ];
  const called = program ? await Promise.all(paying.map((instruction) => throughProgram(solana, instruction))) : paying;
  const signed = await solana.sign(payer, table ? await throughTable(solana, called) : called);
  await solana.send(signed);
  await mineProcessed();
  await follow();
  expect(await found()).toEqual([]);
  await mine();
  const options = { commitment: 'finalized', encoding: 'json', maxSupportedTransactionVersion: 0 } as const;
  const shown = await solana.rpc.getTransaction(signed.id, options).send();
  expect(shown?.meta?.err).toBeNull();
  expect(shown?.meta?.innerInstructions).toHaveLength(program ? 2 : 0);
  expect(shown?.transaction.message.accountKeys.includes(address(alice.address))).toBe(!table);
  await Promise.all([follow(), follow()]);
  expect((await found()).sort()).toEqual([
    ['CONFIRMED', 'SOL', String(sol(1.5))],
    ['CONFIRMED', 'USDC', '2500000'],
  ]);
  await creditedIs(sol(1.5), 2_500_000n);
});

test('lamports that no instruction of the System program has moved', async () => {
  const { solana, alice, follow, mine } = fixture;
  const payer = await solana.funded();
  await solana.send(await solana.sign(payer, [await createAssociated(payer.address, payer.address)]));
  await mine();
  const close = await closeAssociated(payer.address, alice.address);
  await solana.send(await solana.sign(payer, [close]));
  await mine();
  await follow();
  expect(await found()).toEqual([['CONFIRMED', 'SOL', '2039280']]);
  await creditedIs(2_039_280n, 0n);
});

test('a transaction that a fork takes away is never credited; one that comes back is credited once', async () => {
  const { solana, alice, follow, mine, local } = fixture;
  const payer = await solana.funded();
  await mine();
  const pay = async (amount: bigint) => {
    // of a block that no fork takes away
    const { value: lifetime } = await solana.rpc.getLatestBlockhash({ commitment: 'finalized' }).send();
    await solana.send(await solana.sign(payer, [transferSol(payer.address, alice.address, amount)], lifetime));
    await mineProcessed();
    await follow();
  };
  await pay(sol(1));
  await local.call('fork', { depth: 1, transactions: 'drop' });
  await mine(3);
  await follow();
  expect(await found()).toEqual([]);
  await pay(sol(2));
  await local.call('fork', { depth: 1, transactions: 'keep' });
  await mine(3);
  await follow();
  expect(await found()).toEqual([['CONFIRMED', 'SOL', String(sol(2))]]);
  await creditedIs(sol(2), 0n);
});

test('what a failed transaction would have paid is no deposit', async () => {
  const { solana, alice, follow, mine } = fixture;
  const payer = await solana.funded(sol(10), 1_000_000n);
  const tooMuch = await transferToken(payer.address, alice.address, 2_000_000n);
  const signed = await solana.sign(payer, [
    transferSol(payer.address, alice.address, sol(1)),
    await createAssociated(payer.address, alice.address),
    tooMuch,
  ]);
  await solana.send(signed);
  await mine();
  await follow();
  expect((await solana.status(signed.id))?.err).not.toBeNull();
  expect(await found()).toEqual([]);
  await creditedIs(0n, 0n);
});
