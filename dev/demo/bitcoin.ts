import { fund } from '../fund';
import type { StackFile } from '../stack-file';
import type { Call } from './client';
import { poll } from './poll';

const chain = 'bitcoin';
/** A Taproot address of BIP-350's test vectors, which the local chain takes too. */
const to = 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0';
const timeoutMs = 120_000;

interface Transaction {
  status: string;
  tx_hash: string | null;
  fee: { amount: string; symbol: string } | null;
}

/** Account, deposit and transfer with the wallet's key on the local Bitcoin chain. @throws Error unless the transfer is CONFIRMED. */
export async function payOnBitcoin(stack: StackFile, call: Call, walletId: string, print: (line: string) => void): Promise<void> {
  const account = await call<{ account_id: string; address: string }>('POST', '/accounts', 201, { wallet_id: walletId, chain });
  await call('POST', '/assets', 201, { account_id: account.account_id, symbol: 'BTC' });
  await fund(stack, chain, 'BTC', account.address, '0.5');
  await poll('the deposit to be credited', timeoutMs, 500, async () => {
    const { data } = await call<{ data: { balance: string }[] }>('GET', `/assets?account_id=${account.account_id}`, 200);
    return { done: data[0]?.balance === '0.5', state: `${data[0]?.balance ?? 'no'} BTC` };
  });
  const transfer = { from_address: account.address, to_address: to, chain, token_symbol: 'BTC', amount: '0.2' };
  const { tx_id: txId } = await call<{ tx_id: string }>('POST', '/transfer', 202, transfer);
  await poll('the transfer to be CONFIRMED', timeoutMs, 500, async () => {
    const { status, tx_hash: hash, fee } = await call<Transaction>('GET', `/transactions/${txId}`, 200);
    if (['REJECTED', 'FAILED', 'NEEDS_ATTENTION'].includes(status)) throw new Error(`the transfer is ${status}`);
    const done = status === 'CONFIRMED';
    if (done) print(`0.2 BTC from ${account.address}: txid ${hash}, fee ${fee?.amount} ${fee?.symbol}`);
    return { done, state: status };
  });
}
