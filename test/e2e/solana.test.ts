import { address, createSolanaRpc, generateKeyPairSigner } from '@solana/kit';
import { parseAmount } from '../../src/platform/money';
import { stack, waitFor } from '../stack/client';
import { balances, fundedAccount, transferAndWait } from './support';

const chain = 'solana';

async function lamports(of: string): Promise<bigint> {
  const rpc = createSolanaRpc(stack().chains[chain]?.rpc ?? '');
  return (await rpc.getBalance(address(of), { commitment: 'finalized' }).send()).value;
}

// the local chain has no package for every machine: litesvm
(chain in stack().chains ? describe : describe.skip)('Solana on the whole stack', () => {
  test('deposits of SOL and USDC are credited; both are paid to an address that has no account yet', async () => {
    const account = await fundedAccount(chain, { SOL: '5', USDC: '20' });
    const { address: to_address } = await generateKeyPairSigner();
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
