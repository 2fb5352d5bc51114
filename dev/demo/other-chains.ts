import { fund } from '../fund';
import type { StackFile } from '../stack-file';
import type { Call } from './client';
import { poll } from './poll';

/** What is shown of a chain: its account gets the deposits, and pays. Amounts in display units. */
interface Payment {
  chain: string;
  /** By symbol. */
  deposits: Record<string, string>;
  /** One after another. */
  transfers: { symbol: string; amount: string }[];
  to: string;
}

export const otherChains: readonly Payment[] = [
  {
    ...{ chain: 'bitcoin', deposits: { BTC: '0.5' }, transfers: [{ symbol: 'BTC', amount: '0.2' }] },
    // a Taproot address of BIP-350's test vectors, which the local chain takes too
    to: 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0',
  },
  {
    ...{ chain: 'tron', deposits: { TRX: '100', USDT: '25' }, transfers: [{ symbol: 'USDT', amount: '10' }] },
    // as in TRON's documents
    to: 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8',
  },
  {
    ...{ chain: 'solana', deposits: { SOL: '1', USDC: '25' } },
    transfers: [
      { symbol: 'SOL', amount: '0.2' },
      { symbol: 'USDC', amount: '10' },
    ],
    // as in the documents of Solana's JSON-RPC; it has no account for the token, which the transfer creates
    to: '83astBRguLMdt2h5U1Tpdq5tjFoJ6noeGwaY3mDLVcri',
  },
];

const timeoutMs = 120_000;

interface Transaction {
  status: string;
  tx_hash: string | null;
  fee: { amount: string; symbol: string } | null;
}

interface Asset {
  symbol: string;
  balance: string;
}

interface Demonstration {
  stack: StackFile;
  call: Call;
  walletId: string;
  print: (line: string) => void;
}

/** Account, deposits and transfers with the wallet's key; resolves with the account's address. @throws Error unless the transfers are CONFIRMED. */
export async function payOn(
  { chain, deposits, transfers, to }: Payment,
  { stack, call, walletId, print }: Demonstration,
): Promise<string> {
  const account = await call<{ account_id: string; address: string }>('POST', '/accounts', 201, { wallet_id: walletId, chain });
  for (const [deposited, text] of Object.entries(deposits)) {
    await call('POST', '/assets', 201, { account_id: account.account_id, symbol: deposited });
    await fund(stack, chain, deposited, account.address, text);
  }
  await poll('the deposits to be credited', timeoutMs, 500, async () => {
    const { data } = await call<{ data: Asset[] }>('GET', `/assets?account_id=${account.account_id}`, 200);
    const done = Object.entries(deposits).every(([deposited, text]) =>
      data.some((asset) => asset.symbol === deposited && asset.balance === text),
    );
    return { done, state: data.map(({ balance, symbol: of }) => `${balance} ${of}`).join(', ') };
  });
  for (const { symbol, amount } of transfers) {
    const transfer = { from_address: account.address, to_address: to, chain, token_symbol: symbol, amount };
    const { tx_id: txId } = await call<{ tx_id: string }>('POST', '/transfer', 202, transfer);
    const { hash, fee } = await confirmed(call, txId);
    print(`${amount} ${symbol} from ${account.address}: txid ${hash}, fee ${fee}`);
  }
  return account.address;
}

/** @throws Error unless it becomes CONFIRMED in time. */
export async function confirmed(call: Call, txId: string): Promise<{ hash: string | null; fee: string }> {
  let ended: Transaction | undefined;
  await poll('the transaction to be CONFIRMED', timeoutMs, 500, async () => {
    ended = await call<Transaction>('GET', `/transactions/${txId}`, 200);
    const { status } = ended;
    if (['REJECTED', 'FAILED', 'CANCELLED', 'NEEDS_ATTENTION'].includes(status)) throw new Error(`the transaction is ${status}`);
    return { done: status === 'CONFIRMED', state: status };
  });
  return { hash: ended?.tx_hash ?? null, fee: `${ended?.fee?.amount} ${ended?.fee?.symbol}` };
}
