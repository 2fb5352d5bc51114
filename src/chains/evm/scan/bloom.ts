import { hexToBytes, keccak256 } from 'viem';
import type { Hex } from '../../types';

/** Membership in a 2048-bit log bloom: three 11-bit indexes from the hash (yellow paper, 4.4.1). */
export function inBloom(bloom: Hex, item: Hex): boolean {
  const bits = hexToBytes(bloom);
  const hash = keccak256(hexToBytes(item), 'bytes');
  return [0, 2, 4].every((at) => {
    const bit = (((hash[at] as number) << 8) | (hash[at + 1] as number)) & 2047;
    return ((bits[255 - (bit >> 3)] as number) & (1 << (bit & 7))) !== 0;
  });
}
