import { generateKeyPairSync } from 'node:crypto';
import { base58 } from '@scure/base';
import { parseAmount } from '../../src/platform/money';
import { stack, waitFor } from '../stack/client';
import { balances, fundedAccount, transferAndWait } from './support';

const chain = 'solana';
/** An address is an Ed25519 public key: the last 32 bytes of its SPKI form. */
const newAddress = () =>
  base58.encode(generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'der' }).subarray(-32));

/** Of `getBalance` of an address, in lamports. */
async function lamports(address: string): Promise<bigint> {
  const response = await fetch(stack().chains[chain]?.rpc ?? '', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getBalance', params: [address, { commitment: 'finalized' }] }),
  });
  const { result } = (await response.json()) as { result: { value: number } };
  return BigInt(result.value);
}

(chain in stack().chains ? describe : describe.skip)('Solana on the whole stack', () => {
  test('deposits of SOL and USDC are credited; both are paid to an address that has no account yet', async () => {
    const account = await fundedAccount(chain, { SOL: '5', USDC: '20' });
    const to_address = newAddress();
    const pay = (token_symbol: string, amount: string) =>
      transferAndWait({ from_address: account.address, to_address, chain, token_symbol, amount }, 120_000);
    expect(await pay('SOL', '1.5')).toMatchObject({ status: 'CONFIRMED', fee: { symbol: 'SOL' } });
    expect(await lamports(to_address)).toBe(1_500_000_000n);
    expect(await pay('USDC', '7.25')).toMatchObject({ status: 'CONFIRMED', fee: { symbol: 'SOL' } });
    await waitFor(async () => (await balances(account.account_id, chain)).SOL?.locked_balance === '0');
    const { SOL: coins, USDC: tokens } = await balances(account.account_id, chain);
    expect(tokens).toEqual({ balance: '12.75', locked_balance: '0' });
    expect(parseAmount(coins?.balance ?? '', 9)).toBe(await lamports(account.address));
  });
});
