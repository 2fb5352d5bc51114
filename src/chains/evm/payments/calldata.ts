import { type Address, encodeFunctionData, getAddress, size, slice } from 'viem';
import type { Payment, Sponsoring } from '../../payments';
import type { Hex, TokenDefinition } from '../../types';
import {
  eip3009Abi,
  exactProxyAbi,
  exactProxyAddress,
  multicall3Abi,
  multicall3Address,
  uptoProxyAbi,
  uptoProxyAddress,
} from './contracts';

export interface SettlementCall {
  to: Address;
  data: Hex;
}

/** What the calldata of a settlement consists of, but the amount. */
export type SettledPayment = Pick<
  Payment,
  | 'method'
  | 'payer'
  | 'payTo'
  | 'authorised'
  | 'nonce'
  | 'validAfter'
  | 'validBefore'
  | 'signature'
  | 'facilitator'
  | 'sponsoring'
> & { token: Pick<TokenDefinition, 'contract'> };

/** Bytes of a signature of a key: r, s, v. */
export const keySignatureBytes = 65;

/**
 * Gas of a simulated settlement, and the most that a settlement may ever use. Official facilitators send 300,000; a contract wallet
 * may need more to check its signature, one that burns everything it gets must not be able to burn more.
 */
export const maxSettlementGas = 500_000n;

/** Gas limit that no settlement exceeds on any chain: the chain with the largest `estimateOverhead` has 200,000. */
export const maxSettlementGasAnywhere = maxSettlementGas + 200_000n;

/**
 * The one call that executes a payment.
 * @param amount atomic units; upto: at most what was authorised, else equal to it
 * @throws Error for a wallet that is to be created for another payment than an authorisation of the token
 */
export function encodeSettlement(payment: SettledPayment, amount: bigint): SettlementCall {
  const { sponsoring } = payment;
  if (payment.method === 'eip3009') {
    const settlement = encodeAuthorization(payment);
    return sponsoring.type === 'deployment' ? encodeAfterDeployment(sponsoring, settlement, false) : settlement;
  }
  if (sponsoring.type === 'deployment') throw new Error('no wallet is created for a permit');
  return payment.method === 'permit2_exact' ? encodeExact(payment) : encodeUpto(payment, amount);
}

export type Deployment = Extract<Sponsoring, { type: 'deployment' }>;

/**
 * A call that is made after the payer's wallet was created, both by Multicall3, to which nobody has given rights. That the wallet cannot
 * be created is no failure of the whole: somebody may have created it meanwhile, and without a wallet the token refuses the signature.
 * A factory that has used up the gas by then (CREATE2 at an address that has code does) leaves none for the call.
 */
export function encodeAfterDeployment(
  { factory, data }: Deployment,
  { to, data: callData }: SettlementCall,
  allowFailure: boolean,
) {
  const calls = [
    { target: getAddress(factory), allowFailure: true, callData: data },
    { target: to, allowFailure, callData },
  ];
  return { to: multicall3Address, data: encodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate3', args: [calls] }) };
}

/** A signature of a key is sent in its parts, as tokens without the form in bytes need it; any other one only has the form in bytes. */
function encodeAuthorization(payment: SettledPayment): SettlementCall {
  const { payer, payTo, authorised, validAfter, validBefore, nonce, signature } = payment;
  const terms = [payer as Address, payTo as Address, authorised, validAfter, validBefore, nonce as Hex] as const;
  const functionName = 'transferWithAuthorization';
  const isOfKey = size(signature) === keySignatureBytes;
  const [r, s, v] = isOfKey ? [slice(signature, 0, 32), slice(signature, 32, 64), Number(slice(signature, 64))] : [];
  const data =
    r && s && v !== undefined
      ? encodeFunctionData({ abi: eip3009Abi, functionName, args: [...terms, v, r, s] })
      : encodeFunctionData({ abi: eip3009Abi, functionName, args: [...terms, signature] });
  return { to: payment.token.contract as Address, data };
}

const toPermit = ({ token, authorised, nonce, validBefore }: SettledPayment) => ({
  permitted: { token: token.contract as Address, amount: authorised },
  nonce: BigInt(nonce),
  deadline: validBefore,
});

function encodeExact(payment: SettledPayment): SettlementCall {
  const { payer, payTo, validAfter, signature, sponsoring } = payment;
  const args = [toPermit(payment), payer as Address, { to: payTo as Address, validAfter }, signature] as const;
  const data =
    sponsoring.type === 'permit'
      ? encodeFunctionData({ abi: exactProxyAbi, functionName: 'settleWithPermit', args: [sponsoring, ...args] })
      : encodeFunctionData({ abi: exactProxyAbi, functionName: 'settle', args });
  return { to: exactProxyAddress, data };
}

function encodeUpto(payment: SettledPayment, amount: bigint): SettlementCall {
  const { payer, payTo, validAfter, signature, sponsoring, facilitator } = payment;
  const witness = { to: payTo as Address, facilitator: facilitator as Address, validAfter };
  const args = [toPermit(payment), amount, payer as Address, witness, signature] as const;
  const data =
    sponsoring.type === 'permit'
      ? encodeFunctionData({ abi: uptoProxyAbi, functionName: 'settleWithPermit', args: [sponsoring, ...args] })
      : encodeFunctionData({ abi: uptoProxyAbi, functionName: 'settle', args });
  return { to: uptoProxyAddress, data };
}
