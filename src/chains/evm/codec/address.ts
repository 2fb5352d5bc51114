import { ECDH } from 'node:crypto';
import { bytesToHex, getAddress, zeroAddress } from 'viem';
import { publicKeyToAddress } from 'viem/accounts';
import type { ParsedAddress } from '../../family';

/** Canonical forms of an address that is known to be valid. */
export function evmAddress(address: string): ParsedAddress {
  const checksummed = getAddress(address);
  return { address: checksummed, key: checksummed.toLowerCase() };
}

const form = /^0x[0-9a-fA-F]{40}$/;

export function parseAddress(text: string): ParsedAddress | null {
  if (!form.test(text)) return null;
  const digits = text.slice(2);
  const parsed = evmAddress(`0x${digits.toLowerCase()}`);
  // nobody has the key of the zero address: a payment to it is lost, and no account can have it
  if (parsed.key === zeroAddress) return null;
  const oneCase = digits === digits.toLowerCase() || digits === digits.toUpperCase();
  return oneCase || text === parsed.address ? parsed : null;
}

/** The letter case is the checksum (EIP-55); digits in one case have none. */
export const hasWrongChecksum = (text: string): boolean =>
  form.test(text) && parseAddress(text) === null && parseAddress(text.toLowerCase()) !== null;

export function address(publicKey: Uint8Array): ParsedAddress {
  if (publicKey.length !== 33) throw new Error('a compressed public key has 33 bytes');
  const point = ECDH.convertKey(publicKey, 'secp256k1', undefined, undefined, 'uncompressed') as Buffer;
  return evmAddress(publicKeyToAddress(bytesToHex(point)));
}
