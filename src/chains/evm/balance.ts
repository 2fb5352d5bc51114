import { type Address, encodeFunctionData, erc20Abi } from 'viem';
import type { Hex } from '../types';
import { NodeRefusal, type RpcCall } from './rpc';

/** Atomic units at the newest block. `token`: contract of an ERC-20 token; null: the native coin. @throws Error for an answer that is none. */
export async function fetchBalance(call: RpcCall, owner: string, token: string | null): Promise<bigint> {
  if (token === null) return BigInt(await call<Hex>('eth_getBalance', [owner, 'latest']));
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [owner as Address] });
  try {
    const word = await call<Hex>('eth_call', [{ to: token, data }, 'latest']);
    if (word.length !== 66) throw new Error(`${token} shows no balance`);
    return BigInt(word);
  } catch (error) {
    throw error instanceof NodeRefusal ? new Error(`${token} shows no balance`, { cause: error }) : error;
  }
}
