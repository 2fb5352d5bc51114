import { type Address, parseEther } from 'viem';
import { chainAt } from '../crash/transfer';
import { randomAddress } from '../factories';
import { api, createActiveWallet, waitFor } from '../stack/client';
import { gateway, json } from './gateway';
import { ledgerDifferences } from './ledger';
import { type Account, balances, ends, fundedAccount, transactionWhen as clientsTransactionWhen } from './support';

/**
 * Transfers that have really failed, redone by the operators' command line on the running stack. Of the client that no other file transfers
 * for: `--all` redoes what has failed there too.
 */

const chain = 'ethereum';
const client = 'other';
let account: Account;
beforeAll(async () => {
  const { wallet_id: walletId } = await createActiveWallet(client);
  account = await fundedAccount(chain, { ETH: '1' }, walletId, client);
});
afterAll(async () => {
  expect(await ledgerDifferences()).toEqual([]);
});

const setCode = (address: string, code: string) =>
  chainAt(chain).request({ method: 'anvil_setCode', params: [address, code] } as never);
const balanceOf = (address: string) => chainAt(chain).getBalance({ address: address as Address });
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- assertions look into parsed JSON
const call = (...request: Parameters<ReturnType<typeof api>['request']>) => api(client).request<any>(...request);
const transactionWhen = (txId: string, statuses: string[]) => clientsTransactionWhen(txId, statuses, 90_000, client);
const transfer = (to: string, headers: Record<string, string> = {}) =>
  call('POST', '/transfer', {
    body: { from_address: account.address, to_address: to, chain, token_symbol: 'ETH', amount: '0.1' },
    headers,
  });
const pay = async (to: string) => {
  const { status, body } = await transfer(to);
  expect(status).toBe(202);
  return transactionWhen(body.tx_id as string, ends);
};
const transfersTo = async (to: string) => (await call('GET', `/transactions?to_address=${to}`)).body;

/** Reverts always. */
const refuses = '0x60006000fd';
/** Reverts unless the price of gas is 0: an estimate goes through, and the transaction does not. */
const revertsWhenSent = '0x3a15600957600080fd5b00';

test('what a recipient has refused is paid once when it accepts, whoever asks again', async () => {
  const to = randomAddress();
  await setCode(to, refuses);
  const failed = await pay(to);
  expect(failed).toMatchObject({ status: 'FAILED', tx_hash: null, failure: { code: 'would_revert' } });
  const { tx_id: txId } = failed;
  const shown = await json('explain', txId);
  expect(shown.actions).toContainEqual(expect.objectContaining({ name: 'redo', command: `gateway transfers redo ${txId}` }));

  await setCode(to, '0x');
  expect(await json('transfers', 'redo', txId, '--dry-run', '--yes')).toMatchObject({
    tx_id: txId,
    amount: '0.1',
    left_out: null,
  });
  expect(await gateway(['transfers', 'redo', txId])).toMatchObject({ code: 1, err: expect.stringContaining('with --yes') });
  const redo = async () =>
    String((await json('transfers', 'redo', txId, '--yes', '--reason', 'its recipient accepts')).retried_by);
  const again = async () => String((await transfer(to, { 'Idempotency-Key': `redo-${txId}` })).body.tx_id);
  const [newTxId, ...others] = await Promise.all([redo(), again(), redo()]);
  expect(new Set([newTxId, ...others, await redo(), await again()]).size).toBe(1);
  expect(await transactionWhen(newTxId, ['CONFIRMED'])).toMatchObject({ retry_of: txId, amount: '0.1' });
  expect(await balanceOf(to)).toBe(parseEther('0.1'));
  expect(await transfersTo(to)).toMatchObject({ total: 2 });
  expect(await json('transfers', 'show', txId)).toMatchObject({ status: 'FAILED', retry_of: null, retried_by: newTxId });
  expect(await json('transfers', 'show', newTxId)).toMatchObject({ status: 'CONFIRMED', retry_of: txId, retried_by: null });
});

test('what was reverted by the chain is redone once its block is final, with others of the client that failed so', async () => {
  const to = randomAddress();
  await setCode(to, revertsWhenSent);
  const { status, failure, tx_id: txId } = await pay(to);
  expect([status, failure.code]).toEqual(['FAILED', 'reverted_on_chain']);
  await setCode(to, '0x');
  const before = (await balances(account.account_id, chain, client)).ETH?.balance;
  const all = ['transfers', 'redo', '--all', '--code', 'reverted_on_chain', '--since', '1h', '--client', client];
  const listed = await waitFor(
    async () => {
      const { transfers } = await json(...all, '--dry-run');
      const own = transfers.find((it: { tx_id: string }) => it.tx_id === txId);
      return own?.left_out === null && own;
    },
    { timeoutMs: 90_000, intervalMs: 500 },
  );
  expect(listed).toMatchObject({ amount: '0.1', symbol: 'ETH', to, chain });
  expect((await balances(account.account_id, chain, client)).ETH?.balance).toBe(before);

  const { results } = await json(...all, '--yes');
  expect(results).toEqual([expect.objectContaining({ tx_id: txId, outcome: 'redone', retried_by: expect.any(String) })]);
  const [redone] = results;
  expect(await transactionWhen(redone.retried_by as string, ['CONFIRMED'])).toMatchObject({ retry_of: txId });
  expect(await balanceOf(to)).toBe(parseEther('0.1'));
  const { transfers } = await json(...all, '--dry-run');
  expect(transfers.map((it: { tx_id: string }) => it.tx_id)).not.toContain(txId);
});

test('what is named wrongly ends with a sentence', async () => {
  for (const [args, code, sentence] of [
    [[], 1, 'name one transfer'],
    [['nope', '--code', 'stuck'], 1, 'are for --all'],
    [['nope', '--yes'], 1, 'transaction nope not found'],
    [['--all', '--yes'], 1, '--all needs --code and --since'],
    [['--all', '--code', 'nope', '--since', '1h'], 2, 'Allowed choices are'],
    [['--all', '--code', 'stuck', '--since', '40d'], 2, 'at most 30d'],
    [['--all', '--code', 'stuck', '--since', '1h', '--limit', '101'], 2, 'from 1 to 100'],
  ] as [string[], number, string][]) {
    const { code: ended, err } = await gateway(['transfers', 'redo', ...args]);
    expect({ args, ended, err }).toEqual({ args, ended: code, err: expect.stringContaining(sentence) });
  }
});
