import { ed25519 } from '@noble/curves/ed25519.js';
import { address, createKeyPairSignerFromPrivateKeyBytes, createSolanaRpc, generateKeyPairSigner } from '@solana/kit';
import { parseAmount } from '../../src/platform/money';
import { api, fund, stack, waitFor } from '../stack/client';
import { bodyOf, caip2, limit, memo, offer, pay, price, terms } from '../unit/x402/solana/scene';
import { solanaOfStack, tokensOnSolana } from './official/solana';
import { balances, fundedAccount, transferAndWait } from './support';

const chain = 'solana';

async function lamports(of: string): Promise<bigint> {
  const rpc = createSolanaRpc(solanaOfStack().rpc);
  return (await rpc.getBalance(address(of), { commitment: 'finalized' }).send()).value;
}

// the local chain has no package for every machine: litesvm
(chain in stack().chains ? describe : describe.skip)('Solana on the whole stack', () => {
  test('deposits of SOL, USDC and USDT are credited; each is paid to an address that has no account yet', async () => {
    const account = await fundedAccount(chain, { SOL: '5', USDC: '20', USDT: '30' });
    const { address: to_address } = await generateKeyPairSigner();
    const pay = (token_symbol: string, amount: string) =>
      transferAndWait({ from_address: account.address, to_address, chain, token_symbol, amount }, 120_000);
    expect(await pay('SOL', '1.5')).toMatchObject({ status: 'CONFIRMED', fee: { symbol: 'SOL' } });
    expect(await lamports(to_address)).toBe(1_500_000_000n);
    expect(await pay('USDC', '7.25')).toMatchObject({ status: 'CONFIRMED', fee: { symbol: 'SOL' } });
    expect(await pay('USDT', '9.5')).toMatchObject({ status: 'CONFIRMED', fee: { symbol: 'SOL' } });
    expect(await tokensOnSolana('USDC', to_address)).toBe(7_250_000n);
    expect(await tokensOnSolana('USDT', to_address)).toBe(9_500_000n);
    await waitFor(async () => (await balances(account.account_id, chain)).SOL?.locked_balance === '0');
    const { SOL: coins, ...others } = await balances(account.account_id, chain);
    expect(others).toEqual({
      USDC: { balance: '12.75', locked_balance: '0' },
      USDT: { balance: '20.5', locked_balance: '0' },
    });
    expect(parseAmount(coins?.balance ?? '', 9)).toBe(await lamports(account.address));
  });

  test('a payment that its payer has signed is settled by the signing nodes, once', async () => {
    const settler = await waitFor(() => stack().settlers[chain], { timeoutMs: 240_000, intervalMs: 500 });
    const secret = ed25519.utils.randomSecretKey();
    const signer = await createKeyPairSignerFromPrivateKeyBytes(secret);
    const payer = { secret, signer, address: signer.address };
    await fund(chain, 'USDC', payer.address, '2');
    // what is credited here is final, and so is what the payer has got before
    const seller = await fundedAccount(chain, { USDC: '1' });
    const { body: supported } = await waitFor(async () => {
      const answer = await api().request<{ kinds: { network: string }[] }>('GET', '/x402/supported');
      return answer.body.kinds.some(({ network }) => network === caip2) && answer;
    });
    const extra = { feePayer: settler };
    expect(supported.kinds).toContainEqual({ x402Version: 2, scheme: 'exact', network: caip2, extra });
    expect(supported.kinds).toContainEqual({ x402Version: 1, scheme: 'exact', network: 'solana', extra });
    const scene = { payer, seller: address(seller.address), settler: { ...payer, address: address(settler) } };
    const rpc = createSolanaRpc(solanaOfStack().rpc);
    const { blockhash } = (await rpc.getLatestBlockhash({ commitment: 'finalized' }).send()).value;
    const instructions = [limit(), price(), await pay(scene), memo()];
    const payload = { transaction: offer({ ...scene, blockhash }, { instructions }) };
    const body = bodyOf(2, payload, terms(scene, 2));
    const settle = async () => (await api().request<Settled>('POST', '/x402/settle', { body })).body;
    const answers = await Promise.all([settle(), settle()]);
    const [first] = answers;
    expect(first?.errorReason).toBeUndefined();
    expect(first).toMatchObject({ success: true, network: caip2, payer: payer.address, amount: '1000' });
    expect(answers[1]).toEqual(first);
    await waitFor(async () => (await balances(seller.account_id, chain)).USDC?.balance === '1.001');
  }, 400_000);
});

interface Settled {
  success: boolean;
  transaction: string;
  errorReason?: string;
}
