import { associatedTokenAddress } from '../../dev/solana/addresses';
import { programs } from '../../dev/solana/parameters';
import { verifyLedger } from '../../src/ledger/verify';
import { retryUpdate } from '../../src/messages/transfer';
import { transferWorkflowId } from '../../src/messages/workflow-ids';
import { solanaFixture } from '../families/solana';
import { ServedChain, until } from '../integration/transfers/served';
import { sol, usdc } from '../solana-chain';
import { createSurfpoolFixture, onSurfpool, type SurfpoolFixture, tokenAccountBytes } from './fixture';

/** Transfers on surfpool, from the request to the finalized block. */

jest.setTimeout(180_000);

const tokens = 20_000_000n;

let fixture: SurfpoolFixture;
const served = new ServedChain<SurfpoolFixture>(async () => {
  fixture = await createSurfpoolFixture();
  await fixture.solana.client.fund(fixture.alice.address, sol(2));
  await fixture.solana.client.fundToken('USDC', fixture.alice.address, tokens);
  await fixture.mine();
  await fixture.follow();
  return fixture;
});

const tokensOf = async (owner: string): Promise<bigint> => {
  const account = await associatedTokenAddress(owner, usdc, programs.token);
  return BigInt((await fixture.solana.rpc.getTokenAccountBalance(account).send()).value.amount);
};
const booksAgree = async (): Promise<void> => {
  const { alice, balance, solana, database } = fixture;
  expect(await balance(alice, 'SOL')).toEqual({ available: await solana.balance(alice.address), locked: 0n });
  expect(await balance(alice, 'USDC')).toEqual({ available: await tokensOf(alice.address), locked: 0n });
  expect(await verifyLedger(database.manager)).toEqual([]);
};

onSurfpool('SOL with a memo, and a token to somebody who has none of it: finalized, the fee is what the chain took', async () => {
  const { solana, transaction } = fixture;
  const to = solanaFixture.newAddress();
  await served.serve();
  const [coins, token] = [
    await served.submit({ tokenSymbol: 'SOL', amount: '0.5', toAddress: to, memo: 'order 17', memoOnChain: true }),
    await served.submit({ tokenSymbol: 'USDC', amount: '7.5', toAddress: to }),
  ];
  await served.ends(coins, 'CONFIRMED');
  await served.ends(token, 'CONFIRMED');
  expect(await solana.balance(to)).toBe(sol(0.5));
  expect(await tokensOf(to)).toBe(7_500_000n);
  const [fee, bound] = [(await transaction(token)).fee, (await transaction(token)).fee_locked].map(String) as [string, string];
  const rent = await solana.rpc.getMinimumBalanceForRentExemption(tokenAccountBytes).send();
  expect(BigInt(fee)).toBeGreaterThan(rent + 5_000n);
  expect(BigInt(fee)).toBeLessThanOrEqual(BigInt(bound));
  const { tx_hash: id } = await transaction(coins);
  const found = await solana.rpc.getTransaction(id as never, { encoding: 'base64', maxSupportedTransactionVersion: 0 }).send();
  expect(found?.meta?.logMessages?.join('\n')).toContain('order 17');
  await booksAgree();
});

onSurfpool('what no block holds is proven to have expired, and signed anew: the money moves once', async () => {
  const to = solanaFixture.newAddress();
  await served.serve();
  // the node takes the first sending, and nobody else hears of it
  jest.spyOn(fixture.client, 'broadcast').mockResolvedValueOnce({ outcome: 'accepted' });
  const txId = await served.submit({ tokenSymbol: 'SOL', amount: '0.5', toAddress: to });
  await until('SUBMITTED', async () => (await served.status(txId)) === 'SUBMITTED');
  // no block that may hold it is left, and the last of them is final
  await fixture.mine(165);
  await until('CONFIRMED', async () => {
    await fixture.mine();
    await fixture.follow();
    await served.client.workflow
      .getHandle(transferWorkflowId(txId))
      .executeUpdate(retryUpdate)
      .catch(() => undefined);
    return (await served.status(txId)) === 'CONFIRMED';
  });
  const attempts = await fixture.attempts(txId);
  expect(attempts.map(({ kind }) => kind)).toEqual(['first', 'reissue']);
  expect(attempts[0]?.impossible_proof).toMatchObject({ end_slot: expect.any(Number) });
  expect(await fixture.solana.balance(to)).toBe(sol(0.5));
  await booksAgree();
});
