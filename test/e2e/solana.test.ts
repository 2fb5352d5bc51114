import { ed25519 } from '@noble/curves/ed25519.js';
import {
  address,
  createKeyPairSignerFromPrivateKeyBytes,
  createSolanaRpc,
  generateKeyPairSigner,
  type Signature,
} from '@solana/kit';
import { associatedTokenAddress } from '../../dev/solana/addresses';
import { parseAmount } from '../../src/platform/money';
import { api, fund, stack, waitFor } from '../stack/client';
import { bodyOf, caip2, limit, memo, offer, pay, price, terms } from '../unit/x402/solana/scene';
import { solanaOfStack, tokensOnSolana } from './official/solana';
import { balances, call, fundedAccount, transferAndWait } from './support';

const chain = 'solana';

async function lamports(of: string): Promise<bigint> {
  const rpc = createSolanaRpc(solanaOfStack().rpc);
  return (await rpc.getBalance(address(of), { commitment: 'finalized' }).send()).value;
}

async function logsOf(id: string): Promise<readonly string[]> {
  const options = { commitment: 'finalized', encoding: 'json', maxSupportedTransactionVersion: 0 } as const;
  const found = await createSolanaRpc(solanaOfStack().rpc)
    .getTransaction(id as Signature, options)
    .send();
  return found?.meta?.logMessages ?? [];
}

// the local chain has no package for every machine: litesvm
(chain in stack().chains ? describe : describe.skip)('Solana on the whole stack', () => {
  test('deposits of SOL, USDC and USDT are credited; each is paid to an address that has no account yet', async () => {
    const account = await fundedAccount(chain, { SOL: '5', USDC: '20', USDT: '30' });
    const { address: to_address } = await generateKeyPairSigner();
    const pay = (token_symbol: string, amount: string, more: object = {}) =>
      transferAndWait({ from_address: account.address, to_address, chain, token_symbol, amount, ...more }, 120_000);
    const sent = await pay('SOL', '1.5', { memo: 'Rechnung 42 ✓', on_chain_memo: true });
    expect(sent).toMatchObject({ status: 'CONFIRMED', memo: 'Rechnung 42 ✓', fee: { symbol: 'SOL' } });
    expect((await logsOf(sent.tx_hash as string)).join()).toContain('Rechnung 42 ✓');
    expect(await lamports(to_address)).toBe(1_500_000_000n);
    expect(await pay('USDC', '7.25')).toMatchObject({ status: 'CONFIRMED', fee: { symbol: 'SOL' } });
    expect(await pay('USDT', '9.5')).toMatchObject({ status: 'CONFIRMED', fee: { symbol: 'SOL' } });
    expect(await tokensOnSolana('USDC', to_address)).toBe(7_250_000n);
    expect(await tokensOnSolana('USDT', to_address)).toBe(9_500_000n);
    await waitFor(async () => (await balances(account.account_id, chain)).SOL?.locked_balance === '0');
    const { body: listed } = await call('GET', `/assets?account_id=${account.account_id}`);
    const types = (listed.data as Listed[]).map(({ symbol, asset_type: type, contract_address: mint }) => [symbol, type, mint]);
    const { USDC, USDT } = solanaOfStack().tokens;
    expect(types.sort()).toEqual([
      ['SOL', 'NATIVE', null],
      ['USDC', 'SPL', USDC],
      ['USDT', 'SPL', USDT],
    ]);
    const { SOL: coins, ...others } = await balances(account.account_id, chain);
    expect(others).toEqual({
      USDC: { balance: '12.75', locked_balance: '0' },
      USDT: { balance: '20.5', locked_balance: '0' },
    });
    expect(parseAmount(coins?.balance ?? '', 9)).toBe(await lamports(account.address));
  });

  test('SOL goes to an address that no key belongs to only where the client says so', async () => {
    const account = await fundedAccount(chain, { SOL: '2' });
    const { address: owner } = await generateKeyPairSigner();
    const to_address = await associatedTokenAddress(owner, owner, owner);
    const transfer = { from_address: account.address, to_address, chain, token_symbol: 'SOL', amount: '0.5' };
    const refused = await call('POST', '/transfer', { body: transfer });
    expect(refused).toMatchObject({
      status: 400,
      body: { code: 'business_error', detail: expect.stringContaining('allow_program') },
    });
    expect((await balances(account.account_id, chain)).SOL).toEqual({ balance: '2', locked_balance: '0' });
    const allowed = { ...transfer, allow_program_address: true };
    expect(await transferAndWait(allowed, 120_000)).toMatchObject({ status: 'CONFIRMED' });
    expect(await lamports(to_address)).toBe(500_000_000n);
  });

  test('a payment that its payer has signed is settled by the signing nodes, once', async () => {
    const settler = await waitFor(() => stack().settlers[chain], { timeoutMs: 900_000, intervalMs: 500 });
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
  }, 1_200_000);
});

interface Listed {
  symbol: string;
  asset_type: string;
  contract_address: string | null;
}

interface Settled {
  success: boolean;
  transaction: string;
  errorReason?: string;
}
