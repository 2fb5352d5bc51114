import { loadRegistry } from '../../src/chains/registry';
import { until } from '../processes';
import type { StackFile } from '../stack-file';
import type { GatewayClient } from '../../client/src';
import { newRequest } from './new-request';
import { confirmed } from './other-chains';
import { poll } from './poll';

const chain = 'solana';
const { caip2 } = loadRegistry('local', [chain]).get(chain);
const settlerMs = 300_000;
/** Its block hash is good for about as long. */
const signedMs = 45_000;
/** 0.01 USDC, atomic units. */
const amount = '10000';

interface Sale {
  readStack: () => StackFile;
  api: GatewayClient;
  print: (line: string) => void;
}

/**
 * An account of the gateway pays by x402 on Solana, and the gateway settles it for the seller: both sides of one transaction. `payTo` has to have an
 * account for the token. @throws Error unless it is paid.
 */
export async function sellOnSolana({ readStack, api, print }: Sale, payer: string, payTo: string): Promise<void> {
  if (!(await until(() => readStack().settlers[chain] !== undefined, settlerMs, 500)))
    throw new Error(`there was no settler on ${chain} within ${settlerMs / 1000} s`);
  const { settlers, chains } = readStack();
  const asset = chains[chain]?.tokens.USDC ?? '';
  const paymentRequirements = {
    ...{ scheme: 'exact' as const, network: caip2, asset, amount, payTo, maxTimeoutSeconds: 60 },
    extra: { feePayer: settlers[chain] },
  };
  let signed = await api.post('/x402/sign', newRequest({ x402Version: 2 as const, payer, paymentRequirements }));
  await poll('the payment to be signed', signedMs, 500, async () => {
    if (signed.paymentPayload === null)
      signed = await api.get('/x402/sign/{tx_id}', { params: { path: { tx_id: signed.txId } } });
    return { done: signed.paymentPayload !== null, state: signed.status };
  });
  print(`${payer} has signed 0.01 USDC, and pays no fee: that is for the settler ${settlers[chain]}`);
  // the type of what was signed is that of any payment
  const paymentPayload = signed.paymentPayload as never;
  const body = { x402Version: 2 as const, paymentPayload, paymentRequirements };
  const settled = await api.post('/x402/settle', { body });
  // it may take longer than the answer waits
  if (!settled.txId) throw new Error(`the payment is not settled: ${settled.errorReason}`);
  const { tx_hash: hash } = await confirmed(api, settled.txId);
  await confirmed(api, signed.txId);
  print(`settled: txid ${hash}`);
}
