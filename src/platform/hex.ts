import type { Hex } from '../chains/types';

export const toHex = (bytes: Uint8Array): Hex =>
  `0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')}`;

/** Of hex digits behind 0x; stops at the first character that is none. */
export const fromHex = (hex: Hex): Buffer => Buffer.from(hex.slice(2), 'hex');
