import { ECDH } from 'node:crypto';
import { keccak256 } from 'viem';
import type { ParsedAddress } from '../../family';
import { fromBase58Check, hasChecksum, toBase58Check } from './base58';

/** First byte of every address, on all networks (java-tron: Constant.ADD_PRE_FIX_BYTE_MAINNET). */
const prefix = 0x41;
/** With the first byte. */
const addressBytes = 21;
/** Nobody has its key: a payment to it is lost, and no account can have it. */
const zero = Buffer.concat([Buffer.from([prefix]), Buffer.alloc(20)]);

/** `bytes`: of an address that is known to be valid. */
export const toAddress = (bytes: Uint8Array): ParsedAddress => ({
  address: toBase58Check(bytes),
  key: Buffer.from(bytes).toString('hex'),
});

/** The address that contracts know by 20 bytes. */
export const fromContractForm = (bytes: Uint8Array): Buffer => Buffer.concat([Buffer.from([prefix]), bytes]);

/** Whether a payment to these bytes reaches somebody. */
export const isUsable = (bytes: Buffer): boolean => bytes.length === addressBytes && bytes[0] === prefix && !bytes.equals(zero);

/** T… (Base58Check), or the same bytes as 42 hex digits, which tronweb takes as well. */
export function parseAddress(text: string): ParsedAddress | null {
  const bytes = /^41[0-9a-fA-F]{40}$/.test(text) ? Buffer.from(text, 'hex') : fromBase58Check(text, addressBytes);
  return bytes && isUsable(bytes) ? toAddress(bytes) : null;
}

/** As many characters of Base58 as every address has, the first of which is always the same. */
const form = /^T[1-9A-HJ-NP-Za-km-z]{33}$/;
export const hasWrongChecksum = (text: string): boolean => form.test(text) && !hasChecksum(text);

/** Those who use an address without the first byte, as wallets of both kinds show it. */
export const findForeignUsers = (text: string): string | null => (/^0x[0-9a-fA-F]{40}$/.test(text) ? 'EVM chains' : null);

/** @throws Error for a text that is no address. */
export function toBytes(text: string): Buffer {
  const parsed = parseAddress(text);
  if (!parsed) throw new Error('a text is no Tron address');
  return Buffer.from(parsed.key, 'hex');
}

/** The last 20 bytes of the key's Keccak-256 (TRON documents, "Accounts"). `publicKey`: compressed. */
export function address(publicKey: Uint8Array): ParsedAddress {
  if (publicKey.length !== 33) throw new Error('a compressed public key has 33 bytes');
  const point = ECDH.convertKey(publicKey, 'secp256k1', undefined, undefined, 'uncompressed') as Buffer;
  return toAddress(fromContractForm(keccak256(point.subarray(1), 'bytes').subarray(-20)));
}
