import type { Address } from 'viem';
import type { SettlementMethod } from '../../payments';
import type { Hex } from '../../types';
import { exactProxyAddress, permit2Address, uptoProxyAddress } from '../payments/contracts';
import { authorizationDigest, permitDigest, type TokenDomain, tokenPermitDigest } from '../payments/typed-data';
import { type Authorisation, nonceBytes } from './bytes';

/** The contract that a Permit2 payment lets spend. */
export const spenderOf = (method: Exclude<SettlementMethod, 'eip3009'>): Address =>
  method === 'permit2_exact' ? exactProxyAddress : uptoProxyAddress;

/** EIP-712 digests: of the payment, and of the permit that it needs. */
export function toDigests(authorisation: Authorisation): Hex[] {
  const { method, permitNonce } = authorisation;
  const payment = method === 'eip3009' ? authorizationOf(authorisation) : permitOf(authorisation, spenderOf(method));
  return permitNonce === null ? [payment] : [payment, allowanceOf(authorisation, permitNonce)];
}

function authorizationOf(authorisation: Authorisation): Hex {
  const { from, to, value, validAfter, validBefore, nonce } = authorisation;
  return authorizationDigest(domainOf(authorisation), { from, to, value, validAfter, validBefore, nonce: nonceBytes(nonce) });
}

const permitOf = (
  { chainId, token, to, value, validAfter, validBefore: deadline, nonce, facilitator }: Authorisation,
  spender: Address,
): Hex =>
  permitDigest(chainId, {
    permitted: { token, amount: value },
    spender,
    nonce,
    deadline,
    witness: { to, facilitator, validAfter },
  });

/** For just the amount, and as long as the payment. Where less is taken, an allowance of the rest is left to Permit2. */
function allowanceOf(authorisation: Authorisation, nonce: bigint): Hex {
  const { from: owner, value, validBefore: deadline } = authorisation;
  return tokenPermitDigest(domainOf(authorisation), { owner, spender: permit2Address, value, nonce, deadline });
}

function domainOf({ chainId, token: verifyingContract, domain }: Authorisation): TokenDomain {
  if (!domain) throw new Error('the token verifies no signature of this payment');
  return { ...domain, chainId, verifyingContract };
}
