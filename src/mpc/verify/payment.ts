import { assertAction, assertOneToken, assertTenant, type Rule, spendingOf } from './ordered';

/** A client's own payment. */
export const payment: Rule = (ordered) => {
  assertTenant(ordered);
  assertAction(ordered, 'payment');
  assertOneToken(ordered);
  return spendingOf(ordered);
};
