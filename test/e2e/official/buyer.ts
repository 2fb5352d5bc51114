import { decodePaymentResponseHeader } from '@x402/core/http';
import type { SettleResponse } from '@x402/core/types';
import { toClientEvmSigner } from '@x402/evm';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { UptoEvmScheme } from '@x402/evm/upto/client';
import { ExactEvmSchemeV1 } from '@x402/evm/v1';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import type { PrivateKeyAccount } from 'viem';
import { devChain } from '../../../dev/chain';
import { paidOn } from '../payers';

/** What a buyer has got. */
export interface Bought {
  status: number;
  body: unknown;
  /** What the seller says about the settlement; null: nothing. */
  settled: SettleResponse | null;
}

/** Buys with `@x402/fetch`, in either version of the protocol, and reads the chain at `rpc`. */
export async function buy(account: PrivateKeyAccount, url: string): Promise<Bought> {
  const { rpc, tokens } = paidOn();
  const signer = toClientEvmSigner(account, devChain(rpc));
  const client = new x402Client()
    .register('eip155:*', new ExactEvmScheme(signer, { rpcUrl: rpc }))
    .register('eip155:*', new UptoEvmScheme(signer, { rpcUrl: rpc }))
    .registerV1('base', new ExactEvmSchemeV1(signer))
    .setSpendControls({ allowedAssets: [{ network: 'eip155:8453', asset: tokens.USDT }] });
  return bought(await wrapFetchWithPayment(fetch, client)(url));
}

export async function bought(response: Response): Promise<Bought> {
  const header = response.headers.get('PAYMENT-RESPONSE') ?? response.headers.get('X-PAYMENT-RESPONSE');
  return {
    status: response.status,
    body: await response.json(),
    settled: header === null ? null : decodePaymentResponseHeader(header),
  };
}
