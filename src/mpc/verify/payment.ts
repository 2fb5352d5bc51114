import { assertMatches } from './mismatch';
import { assertAction, assertOneToken, assertTenant, getSpending, getSum, type Rule } from './ordered';

/** A client's own payment. */
export const payment: Rule = (ordered) => {
  assertTenant(ordered);
  assertAction(ordered, 'payment');
  assertOneToken(ordered);
  assertMatches(getSum(ordered) > 0n, 'recipients', 'the bytes move nothing');
  return getSpending(ordered);
};
