import { randomBytes } from 'node:crypto';
import { type Address, createWalletClient, encodeFunctionData, erc20Abi, type Hex, http, maxUint256 } from 'viem';
import type { PrivateKeyAccount } from 'viem';
import { devChain } from '../../dev/chain';
import { permit2Address } from '../../src/chains/evm/payments/contracts';
import { schemesOf } from '../../src/chains/payment-methods';
import { loadRegistry } from '../../src/chains/registry';
import { account } from '../integration/dev/payers';
import { api, fund, stack, waitFor } from '../stack/client';
import { signed } from '../x402';

/** Where payments are settled in these tests. */
export const paidChain = 'base';

/** The local chain's USDT is a token without permits (EIP-2612). */
export type PaidToken = 'USDC' | 'USDT';

/** RPC url and contracts of the chain. */
export function paidOn(): { rpc: string; usdc: Address; tokens: Record<PaidToken, Address> } {
  const { rpc, tokens } = stack().chains[paidChain] as { rpc: string; tokens: Record<PaidToken, Address> };
  return { rpc, usdc: tokens.USDC, tokens };
}

/** The primary settler; the key of the house is generated once the stack runs. */
export const findSettler = (): Promise<Address> =>
  waitFor(() => stack().settlers[paidChain] as Address | undefined, { timeoutMs: 540_000, intervalMs: 500 });

/** Resolves when every chain of the stack has its settler on which payments are settled: no key of the house is generated any more. */
export async function allSettlers(): Promise<void> {
  const names = Object.keys(stack().chains).filter((name) => {
    const { family } = loadRegistry('local', [name]).get(name);
    return schemesOf(family).length > 0;
  });
  await waitFor(() => names.every((name) => stack().settlers[name]), { timeoutMs: 900_000, intervalMs: 500 });
}

/** A payer with 1 USDC, or of another token: it has neither coins nor given Permit2 an allowance. */
export async function newPayer(
  name = `payer ${randomBytes(8).toString('hex')}`,
  token: PaidToken = 'USDC',
): Promise<PrivateKeyAccount> {
  const payer = account(name);
  await fund(paidChain, token, payer.address, '1');
  return payer;
}

/** Resolves with the settler when a payment has been settled: the API serves it then. */
export async function untilSettling(): Promise<Address> {
  const settler = await findSettler();
  const body = await signed({ kind: 'eip3009', payer: await newPayer() });
  const settle = async () => (await api().request<{ success: boolean }>('POST', '/x402/settle', { body })).body.success;
  await waitFor(settle, { timeoutMs: 180_000, intervalMs: 500 });
  return settler;
}

/** Gives the payer coins, with which it lets Permit2 move all of its USDC. */
export async function approvePermit2(payer: PrivateKeyAccount): Promise<void> {
  const { rpc, usdc } = paidOn();
  await fund(paidChain, 'ETH', payer.address, '1');
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [permit2Address, maxUint256] });
  const wallet = createWalletClient({ account: payer, transport: http(rpc) });
  const hash: Hex = await wallet.sendTransaction({ to: usdc, data, chain: null });
  await devChain(rpc).waitForTransactionReceipt({ hash, pollingInterval: 200 });
}

/** Atomic units. */
export function balanceOf(token: PaidToken, owner: string): Promise<bigint> {
  const { rpc, tokens } = paidOn();
  return devChain(rpc).readContract({
    ...{ address: tokens[token], abi: erc20Abi, functionName: 'balanceOf', args: [owner as Address] },
  });
}
export const usdcOf = (owner: string): Promise<bigint> => balanceOf('USDC', owner);
