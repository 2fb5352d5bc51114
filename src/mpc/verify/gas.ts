import { houseGas } from '../admission';
import { assertMatches } from './mismatch';
import { assertAction, assertHouse, type Rule, getSpending, getSum } from './ordered';

/** Coins of the house for the fee of somebody's own transaction: never more than the highest fee of the chain. */
export const gas: Rule = (ordered) => {
  const { chain, described } = ordered;
  assertHouse(ordered);
  assertAction(ordered, 'payment');
  const isNative = described.outputs.every(({ tokenContract }) => tokenContract === null);
  assertMatches(isNative, 'recipients', 'the house pays in the native coin alone');
  assertMatches(getSum(ordered) <= chain.maxNetworkFee, 'recipients', 'the bytes move more than the highest fee on the chain');
  const { recipients, fee } = getSpending(ordered);
  return { chain: chain.name, token: houseGas, amount: getSum(ordered) + fee, fee, recipients };
};
