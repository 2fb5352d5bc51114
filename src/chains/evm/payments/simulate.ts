import type { Hex } from '../../types';
import { NodeRefusal, type RpcCall } from '../rpc';
import { quantity } from '../rpc-types';
import { maxSettlementGas } from './calldata';

/** `data` of a revert is null when the node does not show it. */
export type CallResult = { result: Hex } | { reverted: true; data: Hex | null };

/**
 * How the EVM's own failures are named by Geth and those like it, and by Anvil: they have no code, and no data. Everything that does not
 * match is a failure of the node.
 */
const executionFailure =
  /revert|out ?of ?gas|opcode|invalid ?jump|stack ?(underflow|overflow|limit)|write protection|state ?change|return ?data|out ?of ?offset/i;

/**
 * eth_call on the latest block.
 * @throws NodeRefusal unless the call was executed, and Error for the failure of the request itself or a response that is no hex
 */
export async function tryCall(call: RpcCall, request: { from?: string; to: string; data: Hex }): Promise<CallResult> {
  try {
    return { result: readHex(await call('eth_call', [{ ...request, gas: quantity(maxSettlementGas) }, 'latest'])) };
  } catch (error) {
    // 3: reverted, with data; other nodes say it in words. Gas is used up by what the payer's wallet does
    const isReverted = error instanceof NodeRefusal && (error.code === 3 || executionFailure.test(error.nodeMessage));
    if (isReverted) return { reverted: true, data: error.data };
    throw error;
  }
}

export const hasCode = async (call: RpcCall, address: string): Promise<boolean> =>
  readHex(await call('eth_getCode', [address, 'latest'])) !== '0x';

/** @throws Error for anything but bytes: another endpoint is asked then, and none is believed */
function readHex(response: unknown): Hex {
  if (typeof response !== 'string' || !/^0x(?:[0-9a-f]{2})*$/i.test(response)) throw new Error('the node responded with no hex');
  return response as Hex;
}
