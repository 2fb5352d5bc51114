import { houseClientId } from '../../platform/house';
import { houseGas } from '../admission';
import { assertAction, assertStays, getSpending, type Rule } from './ordered';

/**
 * A cancellation pays nobody, whatever the order says: nothing leaves the account but its fee. That counts for the sums of fees,
 * one of the house for those of `gas`.
 */
export const cancellation: Rule = (ordered) => {
  const { claims } = ordered;
  assertAction(ordered, 'payment');
  assertStays(ordered);
  const spending = { ...getSpending(ordered), recipients: [] };
  return claims.client_id === houseClientId ? { ...spending, token: houseGas, amount: spending.fee } : spending;
};
