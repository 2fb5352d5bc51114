import { decodeFunctionResult, encodeFunctionData, parseAbi } from 'viem';
import type { ChainDefinition, Hex } from '../types';
import type { RpcCall } from './rpc';

/** Predeploy of the OP stack that computes the L1 data fee of a transaction (specs.optimism.io, predeploys). */
const gasPriceOracle = '0x420000000000000000000000000000000000000F';
const gasPriceOracleAbi = parseAbi(['function getL1Fee(bytes data) view returns (uint256)']);

/**
 * L1 data fee of a transaction, atomic units of the native coin; 0n where the chain charges none. With a margin of a quarter: the price
 * changes until the transaction is included.
 * @throws Error where the node shows no oracle
 */
export async function fetchL1Fee(call: RpcCall, chain: ChainDefinition, transaction: Hex): Promise<bigint> {
  if (!chain.chargesForData) return 0n;
  const data = encodeFunctionData({ abi: gasPriceOracleAbi, functionName: 'getL1Fee', args: [transaction] });
  const answer = await call<Hex>('eth_call', [{ to: gasPriceOracle, data }, 'latest']);
  if (answer === '0x') {
    // development nodes have no predeploys unless they are deployed explicitly
    if (chain.network === 'local') return 0n;
    throw new Error('the gas price oracle does not respond');
  }
  const fee = decodeFunctionResult({ abi: gasPriceOracleAbi, functionName: 'getL1Fee', data: answer });
  return fee + fee / 4n;
}
