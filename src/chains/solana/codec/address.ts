import { ed25519 } from '@noble/curves/ed25519.js';
import { setBounded } from '../../../platform/bounded';
import type { ParsedAddress } from '../../family';
import { fromBase58, toBase58 } from './base58';
import { programs } from './programs';

const addressBytes = 32;

/** `bytes`: of an address that is known to be valid. */
export const toAddress = (bytes: Uint8Array): ParsedAddress => ({
  address: toBase58(bytes),
  key: Buffer.from(bytes).toString('hex'),
});

/** A payment to a program that every transaction may name is lost. */
const unusable: readonly Buffer[] = Object.values(programs);

/** Whether these bytes may be paid to, or may be a token. */
export const isUsable = (bytes: Buffer): boolean => bytes.length === addressBytes && !unusable.some((it) => it.equals(bytes));

/** Base58 of 32 bytes. There is no checksum: a text with a wrong letter is another address. */
export function parseAddress(text: string): ParsedAddress | null {
  const bytes = fromBase58(text, addressBytes);
  return bytes && isUsable(bytes) ? toAddress(bytes) : null;
}

/** @throws Error for a text that is no address. */
export function toBytes(text: string): Buffer {
  const parsed = parseAddress(text);
  if (!parsed) throw new Error('a text is no Solana address');
  return Buffer.from(parsed.key, 'hex');
}

/** The Ed25519 public key itself (RFC 8032: 32 bytes). */
export function address(publicKey: Uint8Array): ParsedAddress {
  if (publicKey.length !== addressBytes || !isOnCurve(publicKey)) throw new Error('an Ed25519 public key is a point of 32 bytes');
  return toAddress(publicKey);
}

/** Addresses whose answer is kept: each takes a square root in the field, and one transaction is read several times. */
const maxKept = 20_000;
const kept = new Map<string, boolean>();

/**
 * Whether somebody may have the key of an address; programs own those that are no points of Ed25519. As the network decides it (solana-address:
 * bytes_are_curve_point), which takes every encoding of a point.
 */
export function isOnCurve(bytes: Uint8Array): boolean {
  const key = Buffer.from(bytes).toString('base64');
  const known = kept.get(key);
  if (known !== undefined) return known;
  const found = isPoint(bytes);
  setBounded(kept, key, found, maxKept);
  return found;
}

function isPoint(bytes: Uint8Array): boolean {
  try {
    // with the rules of ZIP 215, which also takes what is not reduced
    ed25519.Point.fromBytes(bytes, true);
    return true;
  } catch {
    return false;
  }
}
