import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type Address, createWalletClient, erc20Abi, type Hex, http } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { devChain } from '../../dev/chain';
import { encodeSettlement } from '../../src/chains/evm/payments/calldata';
import { getChains } from '../../src/chains/registry/data';
import type { Account } from '../e2e/support';
import { api, stack } from '../stack/client';
import { chainAt } from './transfer';

/** Payments that a client authorises (POST /x402/sign), and that somebody else sends to the chain. */

/** Atomic units of USDC. */
export const paidAmount = 1_000n;
const retryForMs = 240_000;

interface Answer {
  txId?: string;
  status?: string;
  paymentPayload?: { payload: { signature: Hex; authorization: Record<string, string> } } | null;
}
export type Payload = NonNullable<Answer['paymentPayload']>['payload'];

export interface Accepted {
  txId: string;
  /** Every id that an answer named: the same one, if all is well. */
  txIds: Set<string>;
}

export function usdcOn(chain: string): Address {
  const { tokens } = stack().chains[chain] as { tokens: Record<string, string> };
  return tokens['USDC'] as Address;
}

/** As a careful client asks: the same request under the same key until it is accepted. It waits for the signature for as long as usual. */
export async function signPayment(account: Account, chain: string, payTo: string, seconds: number): Promise<Accepted> {
  const terms = {
    ...{ scheme: 'exact', network: getChains('local').find(({ name }) => name === chain)?.caip2, asset: usdcOn(chain), payTo },
    ...{ amount: paidAmount.toString(), maxTimeoutSeconds: seconds, extra: { name: 'USD Coin', version: '2' } },
  };
  const body = { x402Version: 2, payer: account.address, paymentRequirements: terms };
  const request = { body, headers: { 'idempotency-key': randomUUID() } };
  const txIds = new Set<string>();
  for (const until = Date.now() + retryForMs; Date.now() < until; await delay(1_000)) {
    const answer = await api()
      .request<Answer & { tx_id?: string }>('POST', '/x402/sign', request)
      .catch(() => undefined);
    const txId = answer?.body.txId ?? answer?.body.tx_id;
    if (txId !== undefined) txIds.add(txId);
    if (answer?.status === 202 && txId !== undefined) return { txId, txIds };
  }
  throw new Error(`not accepted within ${retryForMs} ms`);
}

/** What is handed out, once it is. */
export async function handedOut(txId: string, timeoutMs = 30_000): Promise<Payload> {
  let last: unknown;
  for (const until = Date.now() + timeoutMs; Date.now() < until; await delay(200)) {
    const answer = await api()
      .request<Answer>('GET', `/x402/sign/${txId}`)
      .catch((error: unknown) => void (last = error));
    const payload = answer?.body.paymentPayload?.payload;
    if (payload) return payload;
    last = answer?.body ?? last;
  }
  throw new Error(`payment ${txId} was not handed out within ${timeoutMs} ms: ${JSON.stringify(last)}`);
}

/** Somebody sends it to the chain; resolves with the transaction when a block has it. */
export async function carryOut(chain: string, { signature, authorization }: Payload): Promise<Hex> {
  const { from = '', to = '', value = '0', validAfter = '0', validBefore = '0', nonce = '' } = authorization;
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
  return hash;
}

/** Atomic units. */
export const usdcAt = (chain: string, owner: string): Promise<bigint> =>
  chainAt(chain).readContract({ address: usdcOn(chain), abi: erc20Abi, functionName: 'balanceOf', args: [owner as Address] });
