import { randomUUID } from 'node:crypto';
import { type Address, createWalletClient, erc20Abi, type Hex, http } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { devChain } from '../../dev/chain';
import { encodeSettlement } from '../../src/chains/evm/payments/calldata';
import { getChains } from '../../src/chains/registry/data';
import type { Account } from '../e2e/support';
import { api, stack, waitFor, type Answer } from '../stack/client';
import { chainAt } from './transfer';

/** Payments that a client authorises (POST /x402/sign), and that somebody else sends to the chain. */

/** Atomic units of USDC. */
export const paidAmount = 1_000n;
const acceptedWithinMs = 360_000;

interface View {
  txId: string;
  paymentPayload: { payload: Payload } | null;
}
export interface Payload {
  signature: Hex;
  authorization: { from: string; to: string; value: string; validAfter: string; validBefore: string; nonce: string };
}

export interface Asked {
  chain: string;
  payTo: string;
  /** How long it can be carried out, from its signature on. */
  seconds: number;
  /** Header `Prefer`; without one the answer comes with the signature. */
  prefer?: string;
}

export interface Accepted {
  txId: string;
  /** Every id that an answer named: the same one, if all is well. */
  txIds: Set<string>;
  /** The first answer that came, and the same request once more. */
  answer: View;
  askAgain: () => Promise<View>;
}

const usdcOn = (chain: string): Address => stack().chains[chain]?.tokens['USDC'] as Address;

/** As a careful client asks: the same request under the same key, until it is accepted. */
export async function signPayment({ address: payer }: Account, { chain, payTo, seconds, prefer }: Asked): Promise<Accepted> {
  const network = getChains('local').find(({ name }) => name === chain)?.caip2;
  const terms = {
    ...{ scheme: 'exact', network, asset: usdcOn(chain), payTo, amount: paidAmount.toString(), maxTimeoutSeconds: seconds },
    extra: { name: 'USD Coin', version: '2' },
  };
  const headers = { 'idempotency-key': randomUUID(), ...(prefer && { prefer }) };
  const request = { body: { x402Version: 2, payer, paymentRequirements: terms }, headers };
  const txIds = new Set<string>();
  const ask = async (): Promise<View> => {
    const { status, body }: Answer<View & { tx_id?: string }> = await api().request('POST', '/x402/sign', request);
    const txId = body.txId ?? body.tx_id;
    if (txId) txIds.add(txId);
    if (status !== 202) throw new Error(`${status} ${JSON.stringify(body)}`);
    return body;
  };
  const answer = await waitFor(ask, { timeoutMs: acceptedWithinMs, intervalMs: 1_000 });
  return { txId: answer.txId, txIds, answer, askAgain: ask };
}

/** What is handed out, once it is. */
export const handedOut = (txId: string): Promise<Payload> =>
  waitFor(async () => (await api().request<View>('GET', `/x402/sign/${txId}`)).body.paymentPayload?.payload, {
    timeoutMs: 150_000,
  });

/** Somebody sends it to the chain; resolves when a block has it. */
export async function carryOut(chain: string, { signature, authorization }: Payload): Promise<void> {
  const { from, to, value, validAfter, validBefore, nonce } = authorization;
  const call = encodeSettlement(
    {
      ...{ method: 'eip3009', payer: from, payTo: to, authorised: BigInt(value), nonce, signature },
      ...{ validAfter: BigInt(validAfter), validBefore: BigInt(validBefore), facilitator: null },
      ...{ sponsoring: { type: 'none' }, token: { contract: usdcOn(chain) } },
    },
    BigInt(value),
  );
  const account = privateKeyToAccount(generatePrivateKey());
  const rpc = stack().chains[chain]?.rpc ?? '';
  await devChain(rpc).setBalance({ address: account.address, value: 10n ** 18n });
  const hash = await createWalletClient({ account, transport: http(rpc) }).sendTransaction({ ...call, chain: null });
  const { status } = await chainAt(chain).waitForTransactionReceipt({ hash, pollingInterval: 200 });
  if (status !== 'success') throw new Error(`${hash} was reverted`);
}

/** Atomic units. */
export const usdcAt = (chain: string, owner: string): Promise<bigint> =>
  chainAt(chain).readContract({ address: usdcOn(chain), abi: erc20Abi, functionName: 'balanceOf', args: [owner as Address] });
