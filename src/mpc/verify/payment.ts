import { longestPaymentSeconds } from '../../messages/order';
import { assertMatches } from './mismatch';
import { assertAction, assertOneToken, assertTenant, getSpending, getSum, type Rule } from './ordered';

/** A client's own payment. */
export const payment: Rule = (ordered) => {
  assertTenant(ordered);
  assertAction(ordered, 'payment');
  assertOneToken(ordered);
  const { described, now } = ordered;
  // until then nothing takes the place of what is not executed
  const isShort = described.expiresAt === undefined || described.expiresAt <= now + longestPaymentSeconds;
  assertMatches(isShort, 'unsigned', 'the bytes could be executed for too long');
  assertMatches(getSum(ordered) > 0n, 'recipients', 'the bytes move nothing');
  return getSpending(ordered);
};
