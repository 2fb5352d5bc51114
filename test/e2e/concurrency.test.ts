import { randomUUID } from 'node:crypto';
import { type Address, createPublicClient, http, parseAbi } from 'viem';
import { randomAddress } from '../factories';
import { stack, waitFor } from '../stack/client';
import { ledgerDifferences } from './ledger';
import { balances, call, ends, fundedAccount, transactionWhen } from './support';

const erc20 = parseAbi(['function balanceOf(address) view returns (uint256)']);
const recipient = '0x000000000000000000000000000000000000bEEF';

/** As by a client that repeats what was not carried out: of so many at once some may get no connection to the database in time. */
const decided = (body: object) => {
  const request = { body, headers: { 'idempotency-key': randomUUID() } };
  return waitFor(async () => {
    const answer = await call('POST', '/transfer', request);
    return answer.status !== 503 && answer.body.code !== 'idempotency_in_progress' && answer;
  });
};

test('20 concurrent POST /transfer with one Idempotency-Key: one transaction, one on-chain transfer, equal answers', async () => {
  const account = await fundedAccount('ethereum', { ETH: '1', USDC: '100' });
  const to = randomAddress() as Address;
  const request = {
    body: { from_address: account.address, to_address: to, chain: 'ethereum', token_symbol: 'USDC', amount: '2.5' },
    headers: { 'idempotency-key': randomUUID() },
  };
  const answers = await Promise.all(Array.from({ length: 20 }, () => call('POST', '/transfer', request)));
  expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(202));
  expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);

  await transactionWhen(answers[0]?.body.tx_id as string, ['CONFIRMED']);
  // independent of the gateway: the chain has moved the amount once, in one transaction
  const { rpc, tokens } = stack().chains.ethereum ?? {};
  const chain = createPublicClient({ transport: http(rpc) });
  const received = { address: tokens?.USDC as Address, abi: erc20, functionName: 'balanceOf', args: [to] } as const;
  expect(await chain.readContract(received)).toBe(2_500_000n);
  expect(await chain.getTransactionCount({ address: account.address as Address, blockTag: 'pending' })).toBe(1);

  const outbound = await call('GET', `/transactions?account_id=${account.account_id}&page_size=100`);
  expect(outbound.body.data.filter((item: { transaction_type: string }) => item.transaction_type === 'OUTBOUND')).toHaveLength(1);
  const later = await call('POST', '/transfer', request);
  expect(later.body).toEqual(answers[0]?.body);
  expect(later.headers.get('idempotency-replayed')).toBe('true');
});

test('50 transfers with funds for 20: exactly 20 are accepted, the balance never goes below zero', async () => {
  const account = await fundedAccount('ethereum', { ETH: '50', USDC: '20' });
  const body = { from_address: account.address, to_address: recipient, chain: 'ethereum', token_symbol: 'USDC', amount: '1' };
  const watch = watchBalance(account.account_id);
  const answers = await Promise.all(Array.from({ length: 50 }, () => decided(body)));

  const accepted = answers.filter(({ status }) => status === 202);
  const refused = answers.filter(({ status }) => status !== 202);
  expect(accepted).toHaveLength(20);
  expect(refused.map(({ status, body: problem }) => [status, problem.code])).toEqual(
    Array(30).fill([400, 'insufficient_balance']),
  );

  const transfers = await Promise.all(accepted.map(({ body: { tx_id } }) => transactionWhen(tx_id as string, ends, 180_000)));
  expect(transfers.map(({ status }) => status)).toEqual(Array(20).fill('CONFIRMED'));
  const lowest = await watch.stop();
  expect([Number.isFinite(lowest), lowest >= 0]).toEqual([true, true]);
  expect((await balances(account.account_id, 'ethereum')).USDC).toEqual({ balance: '0', locked_balance: '0' });
  expect(await ledgerDifferences()).toEqual([]);
});

/** Lowest balance seen while it runs. */
function watchBalance(accountId: string): { stop(): Promise<number> } {
  let running = true;
  let lowest = Number.POSITIVE_INFINITY;
  const watching = (async () => {
    while (running) {
      // no answer says nothing
      const USDC = (await balances(accountId, 'ethereum').catch(() => null))?.USDC;
      if (USDC) lowest = Math.min(lowest, Number(USDC.balance), Number(USDC.locked_balance));
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  })();
  return {
    stop: async () => {
      running = false;
      await watching;
      return lowest;
    },
  };
}
