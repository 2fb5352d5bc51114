import { bytesToHex, hexToBytes, keccak256 } from 'viem';
import type { Hex } from '../../types';
import type { RpcLog } from '../rpc-types';

const size = 256;

/** Membership in a 2048-bit log bloom. */
export function inBloom(bloom: Hex, item: Hex): boolean {
  const bytes = hexToBytes(bloom);
  return bitsOf(item).every(([at, bit]) => ((bytes[at] as number) & bit) !== 0);
}

/** The log bloom of these logs: their addresses and topics. */
export function bloomOf(logs: readonly Pick<RpcLog, 'address' | 'topics'>[]): Hex {
  const bytes = new Uint8Array(size);
  for (const item of logs.flatMap(({ address, topics }) => [address, ...topics]))
    for (const [at, bit] of bitsOf(item)) bytes[at] = (bytes[at] as number) | bit;
  return bytesToHex(bytes);
}

/** The byte and the bit in it of each of the three 11-bit indexes from the item's hash (yellow paper, 4.4.1). */
function bitsOf(item: Hex): [at: number, bit: number][] {
  const hash = keccak256(hexToBytes(item), 'bytes');
  return [0, 2, 4].map((at) => {
    const index = (((hash[at] as number) << 8) | (hash[at + 1] as number)) & 2047;
    return [size - 1 - (index >> 3), 1 << (index & 7)];
  });
}
