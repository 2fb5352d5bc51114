import { randomBytes, randomUUID } from 'node:crypto';
import { getAddress } from 'viem';
import { GatewayClient, type Item, type Transaction } from '../../client/src';
import { transferWorkflowId } from '../../src/messages/workflow-ids';
import { fund } from '../fund';
import { newRequest } from './new-request';
import { poll } from './poll';
import type { StackFile } from '../stack-file';
import { confirmed, otherChains, payOn } from './other-chains';
import { refusedByBlacklist } from './refused';
import { sellOnSolana } from './solana-sale';

const chain = 'ethereum';
const timeouts = { walletMs: 300_000, depositMs: 60_000 };

type Asset = Item<'/assets'>;

/** Prints numbered headings and result lines. */
export interface ScenarioOutput {
  step: (title: string) => void;
  print: (line: string) => void;
}

/**
 * Wallet, account, deposit, transfer and a refused transfer, using only the REST API and the faucet of the local chain.
 * @param readStack the stack as it is now: its settlers come later than the rest
 * @throws Error at the first unexpected result.
 */
export async function runScenario(readStack: () => StackFile, { step, print }: ScenarioOutput): Promise<void> {
  const stack = readStack();
  const [credentials] = stack.clients;
  if (!credentials) throw new Error('the stack has no client');
  const { api_key: apiKey, api_secret: apiSecret } = credentials;
  const api = new GatewayClient({ baseUrl: stack.base_url, apiKey, apiSecret });

  step('Token');
  await api.accessToken();
  print(`client ${credentials.name} (${credentials.client_id}) has an access token`);

  step('Wallet: three nodes generate a key; each of them has only a share');
  const { wallet_id } = await api.post('/wallets', newRequest({ wallet_name: `Demo ${new Date().toISOString()}` }));
  print(`wallet ${wallet_id}: PROGRESSING`);
  const startedAt = Date.now();
  await api.waitForWallet(wallet_id, { timeoutMs: timeouts.walletMs });
  print(`ACTIVE after ${((Date.now() - startedAt) / 1000).toFixed(1)} s`);

  step('Account: an address on a chain');
  const account = await api.post('/accounts', newRequest({ wallet_id, chain }));
  print(`${chain} address ${account.address}`);

  step('Assets: ETH and USDC');
  for (const symbol of ['ETH', 'USDC'] as const)
    await api.post('/assets', newRequest({ account_id: account.account_id, symbol, chain }));
  const balances = async () => {
    const { data } = await api.get('/assets', { params: { query: { account_id: account.account_id } } });
    const of = (symbol: string) => data.find((asset) => asset.symbol === symbol);
    return { eth: of('ETH'), usdc: of('USDC') };
  };
  print(show(await balances()));

  step(`Deposits from the faucet of the local ${chain}`);
  for (const [symbol, amount] of [
    ['ETH', '1'],
    ['USDC', '100'],
  ] as const) {
    print(`${amount} ${symbol}: ${await fund(stack, chain, symbol, account.address, amount)}`);
  }
  await poll('the deposits to be credited', timeouts.depositMs, 500, async () => {
    const { eth, usdc } = await balances();
    return { done: Number(eth?.balance) >= 1 && Number(usdc?.balance) >= 100, state: show({ eth, usdc }) };
  });
  const before = await balances();
  print(`credited: ${show(before)}`);

  step('Transfer: 25 USDC to a new address');
  const to = getAddress(`0x${randomBytes(20).toString('hex')}`);
  const transfer = { from_address: account.address, to_address: to, chain, token_symbol: 'USDC', amount: '25', memo: 'demo' };
  const { tx_id, status } = await api.transfer(randomUUID(), transfer);
  print(`to ${to}`);
  print(`tx_id ${tx_id}: ${status}; the amount and the highest fee are locked: ${show(await balances())}`);
  if (stack.temporal.ui)
    print(`its workflow: ${stack.temporal.ui}/namespaces/${stack.temporal.namespace}/workflows/${transferWorkflowId(tx_id)}`);

  step('Live status');
  let printed = '';
  const transaction = await confirmed(api, tx_id, (read) => {
    const state = describe(read);
    if (state !== printed) print(state);
    printed = state;
  });

  step('Settled');
  const after = await balances();
  print(`hash ${transaction.tx_hash}`);
  print(`fee  ${transaction.fee ? `${transaction.fee.amount} ${transaction.fee.symbol}` : 'none'}`);
  print(`before ${show(before)}`);
  print(`after  ${show(after)}`);
  if (after.usdc?.balance !== '75' || after.usdc.locked_balance !== '0')
    throw new Error(`75 USDC and nothing locked were expected, not ${show(after)}`);

  for (const payment of otherChains.filter((other) => stack.chains[other.chain])) {
    const symbols = payment.transfers.map(({ symbol }) => symbol).join(' and ');
    step(`The same on another chain: ${symbols} on ${payment.chain}`);
    const address = await payOn(payment, { stack, api, walletId: wallet_id, print });
    if (payment.chain !== 'solana') continue;
    step('x402 on Solana: the account pays 0.01 USDC, and a settler the fee');
    await sellOnSolana({ readStack, api, print }, address, payment.to);
  }

  step('Refused: a blacklisted destination');
  await refusedByBlacklist(api, { ...transfer, amount: '1' }, credentials.totp_secret, print);
  print(`nothing moved: ${show(await balances())}`);
}

function describe({ status, live, confirmations, required_confirmations }: Transaction): string {
  const depth = confirmations ? `, ${confirmations} of ${required_confirmations} confirmations` : '';
  return `${status}${depth}${live && status !== 'CONFIRMED' ? ` — ${live.step}${live.detail ? `: ${live.detail}` : ''}` : ''}`;
}

function show({ eth, usdc }: { eth: Asset | undefined; usdc: Asset | undefined }): string {
  const one = (asset: Asset | undefined, symbol: string) =>
    asset
      ? `${asset.balance} ${symbol}${asset.locked_balance === '0' ? '' : ` (+ ${asset.locked_balance} locked)`}`
      : `no ${symbol}`;
  return `${one(eth, 'ETH')}, ${one(usdc, 'USDC')}`;
}
