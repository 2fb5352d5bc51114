import { encodeFunctionData, parseAbi } from 'viem';
import type { Hex } from '../../types';
import { eip3009Abi, permit2Address } from '../payments/contracts';
import type { RpcCall } from '../rpc';
import { quantity } from '../rpc-types';
import { type Authorisation, nonceBytes } from './bytes';

const permit2Abi = parseAbi(['function nonceBitmap(address owner, uint256 wordPos) view returns (uint256)']);

/** Whether the payment's nonce is used up after a block. @throws Error when the node does not answer with a word. */
export async function isUsed(call: RpcCall, authorisation: Authorisation, block: number): Promise<boolean> {
  const { method, token, from, nonce } = authorisation;
  const isOfToken = method === 'eip3009';
  const data = isOfToken
    ? encodeFunctionData({ abi: eip3009Abi, functionName: 'authorizationState', args: [from, nonceBytes(nonce)] })
    : encodeFunctionData({ abi: permit2Abi, functionName: 'nonceBitmap', args: [from, nonce >> 8n] });
  const word = await call<Hex>('eth_call', [{ to: isOfToken ? token : permit2Address, data }, quantity(block)]);
  if (!/^0x[0-9a-f]{64}$/i.test(word)) throw new Error('the node responded with no word');
  return isOfToken ? BigInt(word) !== 0n : ((BigInt(word) >> (nonce & 0xffn)) & 1n) === 1n;
}
