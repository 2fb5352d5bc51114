import { createHash } from 'node:crypto';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { keccak256 } from 'viem';

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
/** First byte of every address (java-tron: Constant.ADD_PRE_FIX_BYTE_MAINNET). */
const prefix = 0x41;
const addressBytes = 21;

export const sha256 = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest();

/** A text that is no Base58Check. */
export class BadBase58 extends Error {}

/** Base58Check (https://en.bitcoin.it/wiki/Base58Check_encoding). */
export function toBase58(bytes: Uint8Array): string {
  const data = Buffer.concat([bytes, sha256(sha256(bytes)).subarray(0, 4)]);
  let [number, text] = [BigInt(`0x${data.toString('hex')}`), ''];
  for (; number > 0n; number /= 58n) text = `${alphabet[Number(number % 58n)]}${text}`;
  const zeros = data.findIndex((byte) => byte !== 0);
  return '1'.repeat(zeros < 0 ? data.length : zeros) + text;
}

/** @throws BadBase58 also for a wrong checksum */
export function fromBase58(text: string): Buffer {
  if (text.length > 64) throw new BadBase58('too long');
  let number = 0n;
  for (const letter of text) {
    const digit = alphabet.indexOf(letter);
    if (digit < 0) throw new BadBase58(`illegal character ${letter}`);
    number = number * 58n + BigInt(digit);
  }
  const digits = number === 0n ? '' : number.toString(16);
  const zeros = /^1*/.exec(text)?.[0].length ?? 0;
  const data = Buffer.concat([Buffer.alloc(zeros), Buffer.from(digits.length % 2 ? `0${digits}` : digits, 'hex')]);
  const payload = data.subarray(0, -4);
  if (data.length < 5 || !sha256(sha256(payload)).subarray(0, 4).equals(data.subarray(-4))) {
    throw new BadBase58('wrong checksum');
  }
  return payload;
}

/** java-tron: DecodeUtil.addressValid. */
export const isAddress = (bytes: Uint8Array): boolean => bytes.length === addressBytes && bytes[0] === prefix;

/**
 * T… or 41….
 * @throws BadBase58
 */
export function parseAddress(text: string): Buffer {
  const bytes = /^41[0-9a-f]{40}$/i.test(text) ? Buffer.from(text, 'hex') : fromBase58(text);
  if (!isAddress(bytes)) throw new BadBase58('no address');
  return bytes;
}

/** The 20 bytes that contracts know, with the prefix. */
export const withPrefix = (bytes: Uint8Array): Buffer => Buffer.concat([Buffer.from([prefix]), bytes]);

/** Last 20 bytes of the public key's Keccak-256 (TRON's documents: developers, account, "Account address generation"). */
function toAddress(publicKey: Uint8Array): Buffer {
  return withPrefix(keccak256(publicKey.subarray(1), 'bytes').subarray(-20));
}

export const addressOfKey = (privateKey: Uint8Array): Buffer => toAddress(secp256k1.getPublicKey(privateKey, false));

/** r ‖ s ‖ recovery id + 27. */
export function sign(digest: Uint8Array, privateKey: Uint8Array): Buffer {
  const signature = secp256k1.sign(digest, privateKey, { prehash: false, format: 'recovered' });
  return Buffer.concat([signature.subarray(1), Buffer.from([(signature[0] ?? 0) + 27])]);
}

/**
 * The address whose key signed. The last byte is the recovery id, or that plus 27 (java-tron: TransactionCapsule.getBase64FromByteString).
 * @throws Error for a signature that recovers no key
 */
export function recover(digest: Uint8Array, signature: Uint8Array): Buffer {
  const v = signature[64] ?? 0;
  const recovery = v < 27 ? v : v - 27;
  if (recovery > 3) throw new Error(`Header byte out of range: ${v}`);
  const compact = Buffer.concat([Buffer.from([recovery]), signature.subarray(0, 64)]);
  const publicKey = secp256k1.recoverPublicKey(compact, digest, { prehash: false });
  return toAddress(secp256k1.Point.fromBytes(publicKey).toBytes(false));
}
