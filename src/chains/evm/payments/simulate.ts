import type { Hex } from '../../types';
import { NodeRefusal, type RpcCall } from '../rpc';
import { quantity } from '../rpc-types';
import { maxSettlementGas } from './calldata';

/** `data` of a revert is null when the node does not show it. */
export type CallResult = { result: Hex } | { reverted: true; data: Hex | null };

/** eth_call on the latest block. @throws NodeRefusal unless the call was executed, and the failure of the request itself */
export async function tryCall(call: RpcCall, request: { from?: string; to: string; data: Hex }): Promise<CallResult> {
  try {
    return { result: await call<Hex>('eth_call', [{ ...request, gas: quantity(maxSettlementGas) }, 'latest']) };
  } catch (error) {
    // 3: reverted, with data; other nodes say it in words. Gas is used up by what the payer's wallet does
    const isReverted =
      error instanceof NodeRefusal && (error.code === 3 || /revert|out of gas|outofgas/i.test(error.nodeMessage));
    if (isReverted) return { reverted: true, data: error.data };
    throw error;
  }
}

export const hasCode = async (call: RpcCall, address: string): Promise<boolean> =>
  (await call<Hex>('eth_getCode', [address, 'latest'])) !== '0x';
