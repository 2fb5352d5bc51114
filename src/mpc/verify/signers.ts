import { createHash } from 'node:crypto';
import type { FamilyCodec, SigningPayload } from '../../chains/family';
import { groupPath, hasChildren, keyProtocols, maxSignedBytes } from '../../chains/key-protocols';
import type { Hex, KeyProtocol } from '../../chains/types';
import type { OrderSigner } from '../../messages/order';
import { fromHex, toHex } from '../../platform/hex';
import { maxPayloads } from '../order-schema';
import { keyAt, type SigningInput } from '../signatures';
import { assertMatches } from './mismatch';

export interface KeyMaterial {
  publicKey: Uint8Array;
  chainCode: Uint8Array;
}

/** One signature to be made; digest and message are computed here from the transaction's bytes. */
export interface VerifiedPayload extends SigningInput {
  keyId: string;
}

type Keys = ReadonlyMap<string, KeyMaterial>;

/** Requires that each payload is signed by the key of its address, and that the order has the same digests. */
export function verifySigners(
  signers: OrderSigner[],
  payloads: SigningPayload[],
  family: FamilyCodec,
  keys: Keys,
): VerifiedPayload[] {
  const isUsable = payloads.length >= 1 && payloads.length <= maxPayloads && payloads.every(isPayload(family.keyProtocol));
  assertMatches(isUsable, 'unsigned', 'it has no valid signing payloads');
  const derived = signers.map((signer) => ({ ...signer, ...deriveSigner(signer, family, keys) }));
  for (const { addressKey, digests } of derived) {
    const own = payloads.filter(({ signer }) => signer === addressKey).map(({ digest }) => digest);
    assertMatches(own.length > 0, 'from', 'it is not the address of this key and path');
    assertMatches(isSameList(own, digests), 'signers', 'the digests are not those of the bytes');
  }
  return payloads.map(({ signer, digest, message }) => {
    const [owner, ...others] = derived.filter(({ addressKey }) => addressKey === signer);
    assertMatches(owner !== undefined && others.length === 0, 'signers', 'a payload has no signer, or several');
    const signed = { digest: fromHex(digest), ...(message !== undefined && { message: fromHex(message) }) };
    return { ...signed, keyId: owner.key_id, path: owner.path, publicKey: owner.publicKey };
  });
}

/** Whether it says what is signed, in the terms of the protocol: a message comes with the digest that names it everywhere else. */
const isPayload =
  (protocol: KeyProtocol) =>
  ({ digest, message }: SigningPayload): boolean => {
    if (keyProtocols[protocol].signs === 'digest') return digest.length === 66 && message === undefined;
    if (message === undefined || message.length <= 2 || message.length > 2 + 2 * maxSignedBytes) return false;
    return digest === toHex(createHash('sha256').update(fromHex(message)).digest());
  };

/** Only the family's account paths are accepted: a group key with children and all other paths are never used. */
function deriveSigner({ key_id: keyId, path, protocol }: OrderSigner, family: FamilyCodec, keys: Keys) {
  const key = keys.get(keyId);
  assertMatches(key !== undefined, 'signers', 'this node has no share of the key');
  assertMatches(protocol === family.keyProtocol, 'signers', 'the chain does not accept signatures of this protocol');
  const index = Number(path.slice(path.lastIndexOf('/') + 1));
  const isAccounts = hasChildren(protocol) ? index < 2 ** 31 && family.accountPath(index) === path : path === groupPath;
  assertMatches(isAccounts, 'signers', 'the path is not one of an account');
  const publicKey = keyAt(protocol, key, path);
  return { publicKey, addressKey: family.address(publicKey).key };
}

const isSameList = (a: Hex[], b: Hex[]): boolean => a.length === b.length && a.every((item, index) => item === b[index]);
