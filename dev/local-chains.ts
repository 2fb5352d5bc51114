import type { ChainDefinition } from '../src/chains/types';
import { startBitcoinChain } from './bitcoin-chain';
import { BtcdMissing } from './btcd';
import { type ServicesContext, startEvmChain } from './services';
import { LitesvmMissing, startSolanaChain } from './solana-chain';
import type { StackChain } from './stack-file';
import { startTronChain } from './tron-chain';

/** null: what the chain needs is missing on this machine, which `note` says. */
export async function startChain(
  context: ServicesContext,
  chain: ChainDefinition,
  index: number,
  note: (text: string) => void,
): Promise<StackChain | null> {
  if (chain.family === 'evm') return startEvmChain(context, chain, index);
  if (chain.family === 'tron-local') return startTronChain(context, chain, index);
  try {
    if (chain.family === 'solana-local') return await startSolanaChain(context, chain, index);
    return await startBitcoinChain(context, chain, index, note);
  } catch (error) {
    if (!(error instanceof BtcdMissing || error instanceof LitesvmMissing)) throw error;
    context.log(`${chain.name} is left out: ${error.message}`);
    return null;
  }
}
