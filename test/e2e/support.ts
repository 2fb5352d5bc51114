import { formatUnits, parseUnits } from 'viem';
import type { ApiClient } from '../stack/api-client';
import { getFamily } from '../../src/chains/families';
import { loadRegistry } from '../../src/chains/registry';
import type { FamilyFixture } from '../families/fixture';
import { api, type ClientName, createAccount, fund, sharedWallet, waitFor, type Answer } from '../stack/client';

export interface Account {
  account_id: string;
  address: string;
}

interface ListedAsset {
  chain: string;
  symbol: string;
  balance: string;
  locked_balance: string;
}

interface TransferBody {
  from_address: string;
  to_address: string;
  chain: string;
  token_symbol: string;
  amount: string;
}

/** One request as client `demo`; the body is the parsed JSON. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- assertions look into parsed JSON
export const call = (...request: Parameters<ApiClient['request']>): Promise<Answer<any>> => api().request(...request);

/** Final states of a transfer. */
export const ends = ['CONFIRMED', 'FAILED', 'REJECTED', 'CANCELLED'];

/** Of the shared wallet unless another one is named. */
export async function newAccount(chain: string, walletId?: string, client?: ClientName): Promise<Account> {
  return createAccount(walletId ?? (await sharedWallet()).wallet_id, chain, client);
}

export async function addAsset(accountId: string, symbol: string, chain: string, client?: ClientName): Promise<void> {
  const { family } = loadRegistry('local', [chain]).get(chain);
  const named = getFamily(family).addressOnManyChains && { chain };
  const request = { body: { account_id: accountId, symbol, ...named } };
  const { status, body } = await api(client).request('POST', '/assets', request);
  if (status !== 201) throw new Error(`asset ${symbol}: ${status} ${JSON.stringify(body)}`);
}

/**
 * An account with these display amounts, added as assets and credited; of the shared wallet unless another one is named, which has to
 * be of the same client.
 */
export async function fundedAccount(
  chain: string,
  amounts: Record<string, string>,
  walletId?: string,
  client?: ClientName,
): Promise<Account> {
  const account = await newAccount(chain, walletId, client);
  for (const [symbol, amount] of Object.entries(amounts)) {
    await addAsset(account.account_id, symbol, chain, client);
    await fund(chain, symbol, account.address, amount);
  }
  await waitFor(
    async () => {
      const have = await balances(account.account_id, chain, client);
      return Object.entries(amounts).every(([symbol, amount]) => have[symbol]?.balance === amount);
    },
    { timeoutMs: 120_000 },
  );
  return account;
}

/**
 * An account with the native coin of a chain, by one deposit for each of these amounts, which are the fixture's; of the shared wallet unless
 * another one is named.
 */
export async function accountWith(
  { chain, symbol, decimals, amount: coins }: FamilyFixture,
  deposits: string[],
  walletId?: string,
): Promise<Account> {
  const account = await newAccount(chain, walletId);
  const amounts = deposits.map(coins);
  for (const amount of amounts) await fund(chain, symbol, account.address, amount);
  const sum = amounts.reduce((total, amount) => total + parseUnits(amount, decimals), 0n);
  await waitFor(async () => (await balances(account.account_id, chain))[symbol]?.balance === formatUnits(sum, decimals), {
    timeoutMs: 120_000,
  });
  return account;
}

export async function balances(
  accountId: string,
  chain: string,
  client?: ClientName,
): Promise<Record<string, { balance: string; locked_balance: string }>> {
  const { body } = await api(client).request<{ data: ListedAsset[] }>('GET', `/assets?account_id=${accountId}&page_size=100`);
  return Object.fromEntries(
    body.data
      .filter((item) => item.chain === chain)
      .map(({ symbol, balance, locked_balance }) => [symbol, { balance, locked_balance }]),
  );
}

/** Reads a transaction of this client until it is in one of these states. */
export async function transactionWhen(txId: string, statuses: string[], timeoutMs = 90_000, client?: ClientName) {
  return waitFor(
    async () => {
      // eslint-disable-next-line @typescript-eslint/no-explicit-any -- as of `call`
      const { status, body }: Answer<any> = await api(client).request('GET', `/transactions/${txId}`);
      if (status === 200 && statuses.includes(body.status as string)) return body;
      throw new Error(`transaction ${txId}: ${status} ${JSON.stringify(body)}`);
    },
    { timeoutMs },
  );
}

export async function transferAndWait(body: TransferBody, timeoutMs?: number) {
  const accepted = await call('POST', '/transfer', { body });
  if (accepted.status !== 202) throw new Error(`transfer: ${accepted.status} ${JSON.stringify(accepted.body)}`);
  return transactionWhen(accepted.body.tx_id as string, ends, timeoutMs);
}
