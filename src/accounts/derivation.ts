import type { FamilyCodec, ParsedAddress } from '../chains/family';
import { keyAt } from '../mpc/signatures';
import type { AttestedKey } from '../wallets/attested-keys';

export interface DerivedAddress extends ParsedAddress {
  path: string;
  /** The key that signs for it. */
  keyId: string;
}

/**
 * Address of the index-th account of a wallet, from its key: the wallet's, or where keys have no children the account's own. It is derived
 * from the group's public key alone, so the BIP-32 path is non-hardened.
 * @throws Error for a key of another protocol than the family's.
 */
export function deriveAddress(
  key: Pick<AttestedKey, 'keyId' | 'protocol' | 'publicKey' | 'chainCode'>,
  family: FamilyCodec,
  index: number,
): DerivedAddress {
  if (key.protocol !== family.keyProtocol) throw new Error(`key ${key.keyId} is not of ${family.keyProtocol}`);
  const path = family.accountPath(index);
  return { keyId: key.keyId, path, ...family.address(keyAt(key.protocol, key, path)) };
}
