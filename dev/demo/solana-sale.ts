import { until } from '../processes';
import type { StackFile } from '../stack-file';
import type { Call } from './client';
import { confirmed } from './other-chains';
import { poll } from './poll';

const chain = 'solana';
const settlerMs = 300_000;
/** Its block hash is good for about as long. */
const signedMs = 45_000;
/** 0.01 USDC, atomic units. */
const amount = '10000';

interface Sale {
  readStack: () => StackFile;
  call: Call;
  print: (line: string) => void;
}

interface SignedPayment {
  txId: string;
  status: string;
  paymentPayload: object | null;
}

interface Settlement {
  success: boolean;
  errorReason?: string | null;
  txId?: string;
}

/**
 * An account of the gateway pays by x402 on Solana, and the gateway settles it for the seller: both sides of one transaction. `payTo` has to have an
 * account for the token. @throws Error unless it is paid.
 */
export async function sellOnSolana({ readStack, call, print }: Sale, payer: string, payTo: string): Promise<void> {
  if (!(await until(() => readStack().settlers[chain] !== undefined, settlerMs, 500)))
    throw new Error(`there was no settler on ${chain} within ${settlerMs / 1000} s`);
  const { settlers, chains } = readStack();
  const paymentRequirements = {
    ...{ scheme: 'exact', network: 'solana:local', asset: chains[chain]?.tokens.USDC, amount, payTo, maxTimeoutSeconds: 60 },
    extra: { feePayer: settlers[chain] },
  };
  let signed = await call<SignedPayment>('POST', '/x402/sign', 202, { x402Version: 2, payer, paymentRequirements });
  await poll('the payment to be signed', signedMs, 500, async () => {
    if (signed.paymentPayload === null) signed = await call<SignedPayment>('GET', `/x402/sign/${signed.txId}`, 200);
    return { done: signed.paymentPayload !== null, state: signed.status };
  });
  print(`${payer} has signed 0.01 USDC, and pays no fee: that is for the settler ${settlers[chain]}`);
  const body = { x402Version: 2, paymentPayload: signed.paymentPayload, paymentRequirements };
  const settled = await call<Settlement>('POST', '/x402/settle', 200, body);
  // it may take longer than the answer waits
  if (!settled.txId) throw new Error(`the payment is not settled: ${settled.errorReason}`);
  const { hash } = await confirmed(call, settled.txId);
  await confirmed(call, signed.txId);
  print(`settled: txid ${hash}`);
}
