import type { ForeignState, ForeignTransaction } from '../chain-client';
import type { ChainDefinition, Hex } from '../types';
import { NodeRefusal, type RpcCall } from './rpc';
import { quantity } from './rpc-types';

interface ForeignReceipt {
  status: Hex;
  blockNumber: Hex;
}

/** As one node shows it: see ChainClient.foreignState. A node that lacks the state of the deeper block proves nothing. */
export async function fetchForeignState(
  call: RpcCall,
  { confirmations }: ChainDefinition,
  { id, sender, ordinal }: ForeignTransaction,
): Promise<ForeignState> {
  const deep = Number(await call<Hex>('eth_blockNumber', [])) - confirmations + 1;
  const isUsedUp = async (block: string) => BigInt(await call<Hex>('eth_getTransactionCount', [sender, block])) > ordinal;
  // the nonce first: a block between the two answers must not make an executed transaction look replaced
  const isUsed = await isUsedUp('latest');
  const receipt = await call<ForeignReceipt | null>('eth_getTransactionReceipt', [id]);
  if (receipt && BigInt(receipt.status) === 1n) return 'executed';
  if (receipt) return Number(receipt.blockNumber) <= deep ? 'reverted' : 'unconfirmed';
  if (!isUsed) return 'absent';
  if (deep < 0) return 'unconfirmed';
  try {
    return (await isUsedUp(quantity(deep))) ? 'replaced' : 'unconfirmed';
  } catch (error) {
    if (error instanceof NodeRefusal) return 'unconfirmed';
    throw error;
  }
}
