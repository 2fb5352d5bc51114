import { type Address, decodeFunctionResult, encodeFunctionData } from 'viem';
import type { PaymentReason } from '../../payment-reasons';
import type { Payment } from '../../payments';
import type { Hex } from '../../types';
import type { RpcCall } from '../rpc';
import { type Deployment, encodeAfterDeployment, encodeSettlement } from './calldata';
import { multicall3Abi } from './contracts';
import { diagnoseAuthorization, paymentDigest } from './diagnose';
import { hasCode, tryCall } from './simulate';
import { isValidSignatureAnswer, walletAbi } from './wallet';

/**
 * Whether the chain would create the payer's wallet and then execute the payment. `takes`: what the new wallet says about the signature
 * is asked as well (ERC-6492): tokens take the signature of a key too, and nobody's wallet would have to be created for that.
 * @param call for what is to be asked at once with the rest
 * @returns null: it would; else why not
 * @throws the failure of a request that was not executed
 */
export async function simulateDeployment(
  call: RpcCall,
  callAtOnce: RpcCall,
  payment: Payment,
  deployment: Deployment,
  settler: string,
): Promise<PaymentReason | null> {
  const { payer, authorised, signature } = payment;
  const data = encodeFunctionData({
    abi: walletAbi,
    functionName: 'isValidSignature',
    args: [paymentDigest(payment), signature],
  });
  const settlement = encodeSettlement(payment, authorised);
  const question = encodeAfterDeployment(deployment, { to: payer as Address, data }, true);
  const [hasTarget, asked, outcome] = await Promise.all([
    hasCode(call, settlement.to),
    tryCall(call, { from: settler, ...question }),
    tryCall(callAtOnce, { from: settler, ...settlement }),
  ]);
  if (!hasTarget || 'reverted' in asked) return 'smart_wallet_deployment_failed';
  const [created, answer] = readResults(asked.result);
  // without code at the payer, nothing is returned
  if (!created.success || (answer.success && answer.returnData === '0x')) return 'smart_wallet_deployment_failed';
  if (!answer.success || !isValidSignatureAnswer(answer.returnData)) return 'invalid_exact_evm_signature';
  if ('reverted' in outcome) return diagnoseAuthorization(call, payment, Promise.resolve(true));
  const [, settled] = readResults(outcome.result);
  if (!settled.success || settled.returnData !== '0x')
    throw new Error('the node responded with a result that a settlement does not have');
  return null;
}

interface CallOutcome {
  success: boolean;
  returnData: Hex;
}

/** @throws Error for anything but the outcomes of two calls */
function readResults(result: Hex): [CallOutcome, CallOutcome] {
  const [first, second, ...others] = decodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', data: result });
  if (!first || !second || others.length > 0) throw new Error('the node responded with other calls than it was asked for');
  return [first, second];
}
