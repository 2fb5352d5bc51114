import { parseUint256 } from '../../../platform/uint256';
import type { JsonObject, Prepared } from '../../types';

/** So much earlier a payment is valid: clocks differ, and so do those of blocks. */
export const validSinceSeconds = 600n;

/** What the chain, and the time, say about a payment that is authorised; seconds since the epoch. */
export interface AuthorisationDetails {
  validAfter: bigint;
  validBefore: bigint;
  /** Nonce of the EIP-2612 permit that it needs; null: none. */
  permitNonce: bigint | null;
}

/** Whoever carries it out pays the fee. */
export const toPreparedAuthorisation = ({ validAfter, validBefore, permitNonce }: AuthorisationDetails): Prepared => ({
  feeBound: '0',
  expiry: { valid_before: validBefore.toString() },
  details: {
    validAfter: validAfter.toString(),
    validBefore: validBefore.toString(),
    permitNonce: permitNonce?.toString() ?? null,
  },
});

/** null: prepared for a transaction. */
export function findAuthorisationDetails({ details }: Prepared): AuthorisationDetails | null {
  const { validAfter, validBefore, permitNonce } = (details ?? {}) as JsonObject;
  const [after, before] = [validAfter, validBefore].map(parseUint256);
  if (typeof after !== 'bigint' || typeof before !== 'bigint') return null;
  return { validAfter: after, validBefore: before, permitNonce: parseUint256(permitNonce) };
}
