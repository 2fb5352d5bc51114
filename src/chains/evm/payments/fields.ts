import { type Address, getAddress, isErc6492Signature, parseErc6492Signature } from 'viem';
import { parseUint256 } from '../../../platform/uint256';
import { isJsonObject } from '../../json';
import type { PaymentReason } from '../../payment-reasons';
import type { Hex, JsonObject, JsonValue } from '../../types';

/** A shorter time than this is not enough for a transaction to be included; seconds. The official packages use the same. */
export const minSecondsLeft = 6;
/** Contract wallets have long signatures; one of several owners has less than 1,000 bytes. */
export const maxSignatureBytes = 2_048;
const zeroAddress: Address = '0x0000000000000000000000000000000000000000';

export const refuse = (reason: PaymentReason): { reason: PaymentReason } => ({ reason });
export const isZero = (address: Address): boolean => address === zeroAddress;

export const asObject = (value: JsonValue | undefined): JsonObject | null => (isJsonObject(value) ? value : null);

/** In any letter case: official clients write addresses in lower case as well, and a wrong checksum is not refused by the package. */
export const readAddress = (value: JsonValue | undefined): Address | null =>
  typeof value === 'string' && /^0x[0-9a-fA-F]{40}$/.test(value) ? getAddress(value.toLowerCase()) : null;

export const readUint = (value: JsonValue | undefined): bigint | null => parseUint256(value);

export const readBytes32 = (value: JsonValue | undefined): Hex | null =>
  typeof value === 'string' && /^0x[0-9a-fA-F]{64}$/.test(value) ? (value.toLowerCase() as Hex) : null;

/** Lower-case hex of at most 2,048 bytes; null for other text. */
export function readSignature(text: string): Hex | null {
  if (text.length > 2 + 2 * maxSignatureBytes || !/^0x(?:[0-9a-fA-F]{2})*$/.test(text)) return null;
  return text.toLowerCase() as Hex;
}

export interface Unwrapped {
  signature: Hex;
  /** The call that creates the wallet; null: the signature is not wrapped. */
  creation: { factory: Address; data: Hex } | null;
}

/** Takes the inner signature out of an ERC-6492 wrapper that names a factory. @returns null for a wrapper that cannot be decoded */
export function unwrap(signature: Hex): Unwrapped | null {
  if (!isErc6492Signature(signature)) return { signature, creation: null };
  try {
    const inner = parseErc6492Signature(signature);
    if (!inner.address || !inner.data || isZero(getAddress(inner.address))) return { signature, creation: null };
    return { signature: inner.signature, creation: { factory: getAddress(inner.address), data: inner.data } };
  } catch {
    return null;
  }
}
