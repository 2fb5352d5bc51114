import { address, type Instruction } from '@solana/kit';
import { associatedTokenAddress } from '../../dev/solana/addresses';
import { programs } from '../../dev/solana/parameters';
import { verifyLedger } from '../../src/ledger/verify';
import { closeAssociated, createAssociated, type Signed, sol, transferSol, transferToken, usdc } from '../solana-chain';
import { createSurfpoolFixture, onSurfpool, type SurfpoolFixture, tokenAccountBytes } from './fixture';
import { createTable, signWithTable } from './lookup-table';

/** Deposits from the blocks of surfpool to the ledger, by the follower. */

jest.setTimeout(120_000);

let fixture: SurfpoolFixture;
beforeEach(async () => {
  fixture = await createSurfpoolFixture();
});
afterEach(() => fixture.close());

const found = async () =>
  (await fixture.inbound()).map(({ status, token_symbol: symbol, amount }) => [status, symbol, amount]).sort();
const creditedIs = async (SOL: bigint, USDC: bigint): Promise<void> => {
  const { alice, balance, database } = fixture;
  expect(await balance(alice, 'SOL')).toEqual({ available: SOL, locked: 0n });
  expect(await balance(alice, 'USDC')).toEqual({ available: USDC, locked: 0n });
  expect(await verifyLedger(database.manager)).toEqual([]);
};

const sending = {
  'a legacy transaction': async (payment: Instruction[], payer: Payer) =>
    fixture.solana.sign(payer, payment, undefined, 'legacy'),
  'one of version 0': async (payment: Instruction[], payer: Payer) => fixture.solana.sign(payer, payment, undefined, 0),
  'one that names its accounts by a lookup table': async (payment: Instruction[], payer: Payer): Promise<Signed> => {
    const { solana, alice } = fixture;
    const accounts = [address(alice.address), await associatedTokenAddress(alice.address, usdc, programs.token)];
    const table = await createTable(solana, payer, accounts);
    return signWithTable(solana, payer, payment, { [table]: accounts });
  },
};
type Payer = Awaited<ReturnType<SurfpoolFixture['solana']['funded']>>;

onSurfpool.each(Object.entries(sending))(
  'SOL and a token by %s: each is credited once, when its block is final',
  async (_, sign) => {
    const { solana, alice, follow, mine } = fixture;
    const payer = await solana.funded(sol(10), 50_000_000n);
    const payment = [
      transferSol(payer.address, alice.address, sol(1.5)),
      await createAssociated(payer.address, alice.address),
      await transferToken(payer.address, alice.address, 2_500_000n),
    ];
    await solana.sendChecked(await sign(payment, payer));
    await follow();
    expect(await found()).toEqual([]);
    await mine();
    await Promise.all([follow(), follow()]);
    expect(await found()).toEqual([
      ['CONFIRMED', 'SOL', String(sol(1.5))],
      ['CONFIRMED', 'USDC', '2500000'],
    ]);
    await creditedIs(sol(1.5), 2_500_000n);
  },
);

onSurfpool('lamports that no instruction of the System program has moved are a deposit, what has failed is none', async () => {
  const { solana, alice, follow, mine } = fixture;
  const payer = await solana.funded(sol(10));
  await solana.sendChecked(await solana.sign(payer, [await createAssociated(payer.address, payer.address)]));
  await mine();
  const close = await closeAssociated(payer.address, alice.address);
  const failing = [transferSol(payer.address, alice.address, sol(1)), transferSol(payer.address, alice.address, sol(100))];
  const signed = await solana.sign(payer, failing);
  await solana.send(signed);
  await solana.sendChecked(await solana.sign(payer, [close]));
  await mine();
  await follow();
  expect((await solana.status(signed.id))?.err).not.toBeNull();
  const rent = await solana.rpc.getMinimumBalanceForRentExemption(tokenAccountBytes).send();
  expect(await found()).toEqual([['CONFIRMED', 'SOL', String(rent)]]);
  await creditedIs(rent, 0n);
});

onSurfpool('deposits on both sides of slots without a block, which take more than one scan, are credited', async () => {
  const { solana, alice, follow, mine } = fixture;
  for (const amount of [1, 2]) {
    await solana.client.fund(alice.address, sol(amount));
    await solana.skip(120);
  }
  await mine();
  await follow();
  expect(await found()).toEqual([
    ['CONFIRMED', 'SOL', String(sol(1))],
    ['CONFIRMED', 'SOL', String(sol(2))],
  ]);
  await creditedIs(sol(3), 0n);
});
