import { fund } from '../fund';
import type { StackFile } from '../stack-file';
import type { Call } from './client';
import { poll } from './poll';

/** What is shown of a chain: its account gets the deposits, and pays. Amounts in display units. */
interface Payment {
  chain: string;
  /** By symbol. */
  deposits: Record<string, string>;
  symbol: string;
  amount: string;
  to: string;
}

export const otherChains: readonly Payment[] = [
  {
    ...{ chain: 'bitcoin', deposits: { BTC: '0.5' }, symbol: 'BTC', amount: '0.2' },
    // a Taproot address of BIP-350's test vectors, which the local chain takes too
    to: 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0',
  },
  {
    ...{ chain: 'tron', deposits: { TRX: '100', USDT: '25' }, symbol: 'USDT', amount: '10' },
    // as in TRON's documents
    to: 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8',
  },
  {
    ...{ chain: 'solana', deposits: { SOL: '1', USDC: '25' }, symbol: 'USDC', amount: '10' },
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

/** Account, deposits and transfer with the wallet's key. @throws Error unless the transfer is CONFIRMED. */
export async function payOn(
  { chain, deposits, symbol, amount, to }: Payment,
  { stack, call, walletId, print }: { stack: StackFile; call: Call; walletId: string; print: (line: string) => void },
): Promise<void> {
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
  const transfer = { from_address: account.address, to_address: to, chain, token_symbol: symbol, amount };
  const { tx_id: txId } = await call<{ tx_id: string }>('POST', '/transfer', 202, transfer);
  await poll('the transfer to be CONFIRMED', timeoutMs, 500, async () => {
    const { status, tx_hash: hash, fee } = await call<Transaction>('GET', `/transactions/${txId}`, 200);
    if (['REJECTED', 'FAILED', 'NEEDS_ATTENTION'].includes(status)) throw new Error(`the transfer is ${status}`);
    const done = status === 'CONFIRMED';
    if (done) print(`${amount} ${symbol} from ${account.address}: txid ${hash}, fee ${fee?.amount} ${fee?.symbol}`);
    return { done, state: status };
  });
}
