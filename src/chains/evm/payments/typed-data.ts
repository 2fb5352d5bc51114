import { type Address, hashTypedData } from 'viem';
import type { Hex } from '../../types';
import { permit2Address } from './contracts';

/** The EIP-712 messages that payers sign, and their digests. */

export const authorizationTypes = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const;

const permitWitness = {
  PermitWitnessTransferFrom: [
    { name: 'permitted', type: 'TokenPermissions' },
    { name: 'spender', type: 'address' },
    { name: 'nonce', type: 'uint256' },
    { name: 'deadline', type: 'uint256' },
    { name: 'witness', type: 'Witness' },
  ],
  TokenPermissions: [
    { name: 'token', type: 'address' },
    { name: 'amount', type: 'uint256' },
  ],
} as const;

export const exactPermitTypes = {
  ...permitWitness,
  Witness: [
    { name: 'to', type: 'address' },
    { name: 'validAfter', type: 'uint256' },
  ],
} as const;

export const uptoPermitTypes = {
  ...permitWitness,
  Witness: [
    { name: 'to', type: 'address' },
    { name: 'facilitator', type: 'address' },
    { name: 'validAfter', type: 'uint256' },
  ],
} as const;

/** EIP-712 domain of a token on one chain. */
export interface TokenDomain {
  name: string;
  version: string;
  chainId: number;
  verifyingContract: Address;
}

export interface Authorization {
  from: Address;
  to: Address;
  value: bigint;
  validAfter: bigint;
  validBefore: bigint;
  nonce: Hex;
}

/** Digest of an EIP-3009 authorisation. */
export const authorizationDigest = (domain: TokenDomain, message: Authorization): Hex =>
  hashTypedData({ domain, types: authorizationTypes, primaryType: 'TransferWithAuthorization', message });

const tokenPermitTypes = {
  Permit: [
    { name: 'owner', type: 'address' },
    { name: 'spender', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'nonce', type: 'uint256' },
    { name: 'deadline', type: 'uint256' },
  ],
} as const;

interface TokenPermit {
  owner: Address;
  spender: Address;
  value: bigint;
  nonce: bigint;
  deadline: bigint;
}

/** Digest of an EIP-2612 permit. */
export const tokenPermitDigest = (domain: TokenDomain, message: TokenPermit): Hex =>
  hashTypedData({ domain, types: tokenPermitTypes, primaryType: 'Permit', message });

export interface PermitTransfer {
  permitted: { token: Address; amount: bigint };
  spender: Address;
  nonce: bigint;
  deadline: bigint;
  witness: { to: Address; facilitator: Address | null; validAfter: bigint };
}

/** Digest of a Permit2 transfer whose witness has a facilitator (upto) or none (exact). The domain of Permit2 has no version. */
export function permitDigest(chainId: number, { witness, ...permit }: PermitTransfer): Hex {
  const domain = { name: 'Permit2', chainId, verifyingContract: permit2Address };
  const { to, facilitator, validAfter } = witness;
  const primaryType = 'PermitWitnessTransferFrom';
  return facilitator === null
    ? hashTypedData({ domain, types: exactPermitTypes, primaryType, message: { ...permit, witness: { to, validAfter } } })
    : hashTypedData({
        domain,
        types: uptoPermitTypes,
        primaryType,
        message: { ...permit, witness: { to, facilitator, validAfter } },
      });
}
