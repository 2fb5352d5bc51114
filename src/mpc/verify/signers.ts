import type { FamilyCodec, SigningPayload } from '../../chains/family';
import type { Hex } from '../../chains/types';
import type { OrderSigner } from '../../messages/order';
import { fromHex } from '../../platform/hex';
import { maxPayloads } from '../order-schema';
import { deriveKey } from '../secp256k1';
import { assertMatches } from './mismatch';

export interface KeyMaterial {
  publicKey: Uint8Array;
  chainCode: Uint8Array;
}

/** One signature to be made. */
export interface VerifiedPayload {
  /** Computed here from the transaction's bytes: 32 bytes. */
  digest: Buffer;
  keyId: string;
  path: string;
  /** Key the signature must verify under: the group key's child at `path`, 33 bytes. */
  publicKey: Buffer;
}

type Keys = ReadonlyMap<string, KeyMaterial>;

/** Requires that each payload is signed by the key of its address, and that the order has the same digests. */
export function verifySigners(
  signers: OrderSigner[],
  payloads: SigningPayload[],
  family: FamilyCodec,
  keys: Keys,
): VerifiedPayload[] {
  const isUsable = payloads.length >= 1 && payloads.length <= maxPayloads && payloads.every(({ digest }) => digest.length === 66);
  assertMatches(isUsable, 'unsigned', 'it has no valid signing payloads');
  const derived = signers.map((signer) => ({ ...signer, ...deriveSigner(signer, family, keys) }));
  for (const { addressKey, digests } of derived) {
    const own = payloads.filter(({ signer }) => signer === addressKey).map(({ digest }) => digest);
    assertMatches(own.length > 0, 'from', 'it is not the address of this key and path');
    assertMatches(isSameList(own, digests), 'signers', 'the digests are not those of the bytes');
  }
  return payloads.map(({ signer, digest }) => {
    const [owner, ...others] = derived.filter(({ addressKey }) => addressKey === signer);
    assertMatches(owner !== undefined && others.length === 0, 'signers', 'a payload has no signer, or several');
    return { digest: fromHex(digest), keyId: owner.key_id, path: owner.path, publicKey: owner.publicKey };
  });
}

/** Only the family's account paths are accepted: the group key itself and all other paths are never used. */
function deriveSigner({ key_id: keyId, path, protocol }: OrderSigner, family: FamilyCodec, keys: Keys) {
  const key = keys.get(keyId);
  assertMatches(key !== undefined, 'signers', 'this node has no share of the key');
  assertMatches(protocol === family.keyProtocol, 'signers', 'the chain does not accept signatures of this protocol');
  const index = Number(path.slice(path.lastIndexOf('/') + 1));
  assertMatches(index < 2 ** 31 && family.accountPath(index) === path, 'signers', 'the path is not one of an account');
  const publicKey = deriveKey(key, path);
  return { publicKey, addressKey: family.address(publicKey).key };
}

const isSameList = (a: Hex[], b: Hex[]): boolean => a.length === b.length && a.every((item, index) => item === b[index]);
