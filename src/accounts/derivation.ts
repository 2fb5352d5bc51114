import type { FamilyCodec, ParsedAddress } from '../chains/family';
import { deriveKey } from '../mpc/secp256k1';
import type { AttestedKey } from '../wallets/attested-keys';

export interface DerivedAddress extends ParsedAddress {
  path: string;
  /** The key that signs for it. */
  keyId: string;
}

/**
 * Address of the index-th account of a wallet. It is derived from the group's public key alone, so the BIP-32 path is non-hardened.
 */
export function deriveAddress(
  key: Pick<AttestedKey, 'keyId' | 'publicKey' | 'chainCode'>,
  family: FamilyCodec,
  index: number,
): DerivedAddress {
  const path = family.accountPath(index);
  return { keyId: key.keyId, path, ...family.address(deriveKey(key, path)) };
}
