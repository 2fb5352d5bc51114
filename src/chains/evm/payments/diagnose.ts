import { type Abi, type Address, decodeFunctionResult, encodeFunctionData, erc20Abi, recoverAddress } from 'viem';
import type { PaymentReason } from '../../payment-reasons';
import type { Payment } from '../../payments';
import type { Hex } from '../../types';
import { parseChainId } from '../chain-id';
import type { RpcCall } from '../rpc';
import { keySignatureBytes } from './calldata';
import { eip3009Abi, exactProxyAddress, permit2Address, uptoProxyAddress } from './contracts';
import { reasonOfRevert } from './reverts';
import { hasCode, tryCall } from './simulate';
import { authorizationDigest, permitDigest } from './typed-data';
import { isValidSignatureAnswer, walletAbi } from './wallet';

const tokenAbi: Abi = eip3009Abi;

/**
 * Why a payment would be reverted, in the order of the official package but for one case (below). All of it is asked at once, in one HTTP request.
 * @param revert what the simulation has reverted with
 * @throws the failure of a request that was not executed
 */
export async function diagnose(call: RpcCall, payment: Payment, revert: Hex | null): Promise<PaymentReason> {
  return payment.method === 'eip3009'
    ? diagnoseAuthorization(call, payment, isSignedByPayer(call, payment))
    : diagnosePermit(call, payment, revert);
}

/** The same of an authorisation. `signed`: whether the payer has signed it. */
export async function diagnoseAuthorization(call: RpcCall, payment: Payment, signed: Promise<boolean>): Promise<PaymentReason> {
  const { payer, nonce, domain, authorised } = payment;
  const read = reader(call, payment.token.contract as Address);
  const [isSigned, isUsed, name, version, balance] = await Promise.all([
    signed,
    read('authorizationState', [payer as Address, nonce as Hex]),
    read('name', []),
    read('version', []),
    read('balanceOf', [payer as Address]),
  ]);
  if (!isSigned) return 'invalid_exact_evm_signature';
  if (isUsed === undefined) return 'invalid_exact_evm_eip3009_not_supported';
  if (isUsed === true) return 'invalid_exact_evm_nonce_already_used';
  if (name !== undefined && name !== domain?.name) return 'invalid_exact_evm_token_name_mismatch';
  if (version !== undefined && version !== domain?.version) return 'invalid_exact_evm_token_version_mismatch';
  if (typeof balance === 'bigint' && balance < authorised) return 'invalid_exact_evm_insufficient_balance';
  return 'invalid_exact_evm_transaction_simulation_failed';
}

type Reading = 'authorizationState' | 'name' | 'version' | 'balanceOf';

/** undefined: the token has no such function, or answers something else. */
const reader =
  (call: RpcCall, token: Address) =>
  async (functionName: Reading, args: readonly unknown[]): Promise<unknown> => {
    const data = encodeFunctionData({ abi: tokenAbi, functionName, args });
    const answer = await tryCall(call, { to: token, data });
    try {
      return 'result' in answer ? decodeFunctionResult({ abi: tokenAbi, functionName, data: answer.result }) : undefined;
    } catch {
      return undefined;
    }
  };

async function diagnosePermit(call: RpcCall, payment: Payment, revert: Hex | null): Promise<PaymentReason> {
  const { payer, authorised } = payment;
  const token = payment.token.contract as Address;
  const allowance = encodeFunctionData({ abi: erc20Abi, functionName: 'allowance', args: [payer as Address, permit2Address] });
  const [isSigned, balance, allowed] = await Promise.all([
    isSignedByPayer(call, payment),
    reader(call, token)('balanceOf', [payer]),
    tryCall(call, { to: token, data: allowance }),
  ]);
  if (!isSigned) return 'invalid_permit2_signature';
  const reason = reasonOfRevert(revert);
  // before the allowance, unlike the official package: the first use of a permit has used up the allowance that came with it
  if (reason === 'permit2_invalid_nonce') return reason;
  if (typeof balance === 'bigint' && balance < authorised) return 'permit2_insufficient_balance';
  if ('result' in allowed && allowed.result.length === 66 && BigInt(allowed.result) < authorised)
    return 'permit2_allowance_required';
  return reason ?? 'permit2_simulation_failed';
}

/** A contract is asked (ERC-1271), an account that delegates to one included (EIP-7702); everybody else signs with a key. */
async function isSignedByPayer(call: RpcCall, payment: Payment): Promise<boolean> {
  const { payer, signature } = payment;
  const hash = paymentDigest(payment);
  const data = encodeFunctionData({ abi: walletAbi, functionName: 'isValidSignature', args: [hash, signature] });
  const [isContract, answer] = await Promise.all([hasCode(call, payer), tryCall(call, { to: payer, data })]);
  if (isContract) return 'result' in answer && isValidSignatureAnswer(answer.result);
  if (signature.length !== 2 + 2 * keySignatureBytes) return false;
  return recoverAddress({ hash, signature }).then(
    (signer) => signer.toLowerCase() === payer.toLowerCase(),
    () => false,
  );
}

/** What the payer has signed. */
export function paymentDigest(payment: Payment): Hex {
  const { method, chain, token, domain, payer, payTo, authorised, validAfter, validBefore, nonce } = payment;
  const [from, to, contract] = [payer, payTo, token.contract] as [Address, Address, Address];
  const chainId = parseChainId(chain);
  if (method === 'eip3009') {
    if (!domain) throw new Error('an EIP-3009 payment has a domain');
    const message = { from, to, value: authorised, validAfter, validBefore, nonce: nonce as Hex };
    return authorizationDigest({ ...domain, chainId, verifyingContract: contract }, message);
  }
  return permitDigest(chainId, {
    permitted: { token: contract, amount: authorised },
    spender: method === 'permit2_exact' ? exactProxyAddress : uptoProxyAddress,
    nonce: BigInt(nonce),
    deadline: validBefore,
    witness: { to, facilitator: payment.facilitator as Address | null, validAfter },
  });
}
