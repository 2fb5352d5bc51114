import { houseClientId } from '../../platform/house';
import { houseGas } from '../admission';
import { assertMatches } from './mismatch';
import { assertAction, type Rule, getSpending } from './ordered';

/**
 * A cancellation pays nobody, whatever the order says: nothing leaves the account but its fee. That counts for the sums of fees,
 * one of the house for those of `gas`.
 */
export const cancellation: Rule = (ordered) => {
  const { claims, described, from, same } = ordered;
  assertAction(ordered, 'payment');
  for (const { recipient, tokenContract, amount } of described.outputs) {
    assertMatches(tokenContract === null, 'recipients', 'a cancellation moves no token');
    assertMatches(amount === 0n, 'recipients', 'a cancellation moves nothing');
    assertMatches(same(recipient, from.address), 'recipients', 'a cancellation goes to the account itself');
  }
  const spending = { ...getSpending(ordered), recipients: [] };
  return claims.client_id === houseClientId ? { ...spending, token: houseGas, amount: spending.fee } : spending;
};
