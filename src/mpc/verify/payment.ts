import { assertAction, assertOneToken, assertTenant, type Rule, getSpending } from './ordered';

/** A client's own payment. */
export const payment: Rule = (ordered) => {
  assertTenant(ordered);
  assertAction(ordered, 'payment');
  assertOneToken(ordered);
  return getSpending(ordered);
};
