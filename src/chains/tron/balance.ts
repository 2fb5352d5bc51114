import { toAddress, toBytes } from './codec/address';
import type { TronNode } from './node';

/** balanceOf(address). */
const selector = '70a08231';

/** Data of balanceOf(address); `key`: canonical form. */
export const encodeBalanceOf = (key: string): Buffer => Buffer.from(`${selector}${key.slice(2).padStart(64, '0')}`, 'hex');

/** By the solidified blocks, sun or atomic units. `token`: contract of a TRC-20 token; null: TRX. @throws Error for an answer that is none. */
export async function fetchBalance(node: TronNode, address: string, token: string | null): Promise<bigint> {
  const { key } = toAddress(toBytes(address));
  if (token === null) return node.solidBalance(key);
  const word = await node.solidCall(key, toAddress(toBytes(token)).key, encodeBalanceOf(key));
  if (word.length !== 32) throw new Error('the token shows no balance');
  return BigInt(`0x${word.toString('hex')}`);
}
