import { assertMatches } from './mismatch';
import { assertAction, assertHouse, getSpending, type Rule } from './ordered';

/**
 * Coins of the house that leave it, at an operator's request. Where to, only the node's own configuration says (limits.ts); it counts as
 * native coins.
 */
export const withdrawal: Rule = (ordered) => {
  const { described, from, same } = ordered;
  assertHouse(ordered);
  assertAction(ordered, 'payment');
  const [output, ...others] = described.outputs;
  assertMatches(output !== undefined && others.length === 0, 'recipients', 'a withdrawal has one recipient');
  assertMatches(output.tokenContract === null, 'recipients', 'the house pays in the native coin alone');
  assertMatches(!same(output.recipient, from.address), 'recipients', 'it is the account itself');
  return { ...getSpending(ordered), purpose: 'withdrawal' };
};
