import type { ChainDefinition } from '../types';
import { encodeBalanceOf } from './balance';
import { toAddress, toBytes } from './codec/address';
import { assertPenalty, nextPenalty, penaltyOf, type TronFeeLevels } from './fees';
import type { TronNode } from './node';
import type { Parameters } from './parameters';

/** The committee's prices, and the penalty of each registered token as it may be within the next six hours. */
export async function fetchLevels(node: TronNode, { tokens }: ChainDefinition): Promise<TronFeeLevels> {
  const parameters = await node.parameters();
  const { bandwidthPrice, energyPrice, newAccountFee, memoFee } = parameters;
  const contracts = tokens.map(({ contract }) => contract as string);
  const penalties = await Promise.all(
    contracts.map(async (contract) => [contract, await fetchPenalty(node, contract, parameters)] as const),
  );
  return { bandwidthPrice, energyPrice, newAccountFee, memoFee, penalties: new Map(penalties) };
}

/** By what a call that needs no balance takes. */
async function fetchPenalty(node: TronNode, contract: string, { penaltyIncrease, highestPenalty }: Parameters): Promise<bigint> {
  const { key } = toAddress(toBytes(contract));
  const { outcome, energy, penalty } = await node.call(key, key, encodeBalanceOf(key));
  if (outcome === 'reverted') throw new Error('a token does not answer');
  const current = penaltyOf(energy, penalty);
  assertPenalty(current);
  return nextPenalty(current, { increase: penaltyIncrease, highest: highestPenalty });
}
