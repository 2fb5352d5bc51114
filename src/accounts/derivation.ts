import { HDKey } from '@scure/bip32';
import type { FamilyCodec, ParsedAddress } from '../chains/family';
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
  { keyId, publicKey, chainCode }: Pick<AttestedKey, 'keyId' | 'publicKey' | 'chainCode'>,
  family: FamilyCodec,
  index: number,
): DerivedAddress {
  const path = family.accountPath(index);
  const child = new HDKey({ publicKey: Uint8Array.from(publicKey), chainCode: Uint8Array.from(chainCode) }).derive(path);
  if (!child.publicKey) throw new Error(`no public key at ${path} of key ${keyId}`);
  return { keyId, path, ...family.address(child.publicKey) };
}
