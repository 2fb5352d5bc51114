import { randomUUID } from 'node:crypto';
import { fund } from '../fund';
import type { StackFile } from '../stack-file';
import type { GatewayClient, Schemas, Transaction } from '../../client/src';
import { newRequest } from './new-request';
import { poll } from './poll';

interface Payment {
  symbol: Schemas['AddAssetRequest']['symbol'];
  amount: string;
}

/** What is shown of a chain: its account gets the deposits, and pays. Amounts in display units. */
interface Demonstrated {
  chain: string;
  deposits: Payment[];
  /** One after another. */
  transfers: Payment[];
  to: string;
}

export const otherChains: readonly Demonstrated[] = [
  {
    ...{ chain: 'bitcoin', deposits: [{ symbol: 'BTC', amount: '0.5' }], transfers: [{ symbol: 'BTC', amount: '0.2' }] },
    // a Taproot address of BIP-350's test vectors, which the local chain takes too
    to: 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0',
  },
  {
    ...{
      chain: 'tron',
      deposits: [
        { symbol: 'TRX', amount: '100' },
        { symbol: 'USDT', amount: '25' },
      ],
      transfers: [{ symbol: 'USDT', amount: '10' }],
    },
    // as in TRON's documents
    to: 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8',
  },
  {
    ...{
      chain: 'solana',
      deposits: [
        { symbol: 'SOL', amount: '1' },
        { symbol: 'USDC', amount: '25' },
      ],
    },
    transfers: [
      { symbol: 'SOL', amount: '0.2' },
      { symbol: 'USDC', amount: '10' },
    ],
    // as in the documents of Solana's JSON-RPC; it has no account for the token, which the transfer creates
    to: '83astBRguLMdt2h5U1Tpdq5tjFoJ6noeGwaY3mDLVcri',
  },
];

const timeoutMs = 120_000;

interface Demonstration {
  stack: StackFile;
  api: GatewayClient;
  walletId: string;
  print: (line: string) => void;
}

/** Account, deposits and transfers with the wallet's key; resolves with the account's address. @throws Error unless the transfers are CONFIRMED. */
export async function payOn(
  { chain, deposits, transfers, to }: Demonstrated,
  { stack, api, walletId, print }: Demonstration,
): Promise<string> {
  const account = await api.post('/accounts', newRequest({ wallet_id: walletId, chain }));
  for (const { symbol, amount } of deposits) {
    await api.post('/assets', newRequest({ account_id: account.account_id, symbol }));
    await fund(stack, chain, symbol, account.address, amount);
  }
  await poll('the deposits to be credited', timeoutMs, 500, async () => {
    const { data } = await api.get('/assets', { params: { query: { account_id: account.account_id } } });
    const done = deposits.every(({ symbol, amount }) =>
      data.some((asset) => asset.symbol === symbol && asset.balance === amount),
    );
    return { done, state: data.map(({ balance, symbol }) => `${balance} ${symbol}`).join(', ') };
  });
  for (const { symbol, amount } of transfers) {
    const transfer = { from_address: account.address, to_address: to, chain, token_symbol: symbol, amount };
    const { tx_id: txId } = await api.transfer(randomUUID(), transfer);
    const { tx_hash: hash, fee } = await confirmed(api, txId);
    print(`${amount} ${symbol} from ${account.address}: txid ${hash}, fee ${fee?.amount} ${fee?.symbol}`);
  }
  return account.address;
}

/** @throws Error unless it becomes CONFIRMED in time. */
export async function confirmed(api: GatewayClient, txId: string, onRead?: (state: Transaction) => void): Promise<Transaction> {
  const transaction = await api.waitForTransfer(txId, {
    timeoutMs,
    intervalMs: 100,
    onRead: (state) => {
      onRead?.(state);
      if (state.status === 'NEEDS_ATTENTION')
        throw new Error(`the transaction needs an operator: ${JSON.stringify(state.failure)}`);
    },
  });
  const { status, failure } = transaction;
  if (status !== 'CONFIRMED') throw new Error(`the transaction ended ${status}: ${JSON.stringify(failure)}`);
  return transaction;
}
