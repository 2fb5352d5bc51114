import { groupPath, hasChildren, keyProtocols } from '../chains/key-protocols';
import type { Hex, KeyProtocol } from '../chains/types';
import { fromHex } from '../platform/hex';
import { verifiesEd25519 } from './ed25519';
import { decodeSignature, deriveKey, recoversTo } from './secp256k1';

/** What is signed, and the key that has to result. */
export interface SigningInput {
  /** 32 bytes. Where the protocol signs a message, the digest only names it. */
  digest: Buffer;
  /** Only where the protocol signs messages. */
  message?: Buffer;
  /** BIP-32, from the group's key; `m` where keys have no children. */
  path: string;
  /** Of the key at this path. */
  publicKey: Buffer;
}

/** Whether it is a signature over the input by its key, encoded as the protocol has it. */
export function isSignature(protocol: KeyProtocol, signature: Hex, input: Omit<SigningInput, 'path'>): boolean {
  if (keyProtocols[protocol].signs === 'message')
    return input.message !== undefined && verifiesEd25519(input.publicKey, fromHex(signature), input.message);
  const decoded = decodeSignature(signature);
  return decoded !== undefined && recoversTo(input.publicKey, decoded, input.digest);
}

/** The key at a path of a group key. @throws Error for a path that it does not have. */
export function keyAt(protocol: KeyProtocol, key: { publicKey: Uint8Array; chainCode: Uint8Array }, path: string): Buffer {
  if (hasChildren(protocol)) return deriveKey(key, path);
  if (path !== groupPath) throw new Error(`keys of ${protocol} have no children`);
  return Buffer.from(key.publicKey);
}
