import type { SigningClaims } from '../../messages/order';
import { houseClientId } from '../../platform/house';
import { authorisation } from './authorisation';
import { cancellation } from './cancellation';
import { consolidation } from './consolidation';
import { gas } from './gas';
import { mismatch } from './mismatch';
import { getSum, type Rule, settlementIn } from './ordered';
import { payment } from './payment';
import { settlement } from './settlement';
import { withdrawal } from './withdrawal';

/**
 * The rule of the first attempt applies again. The journal verifies that the later attempt uses up the same resources, and so replaces
 * the first one and settles the same authorisation.
 */
const laterAttempt: Rule = (ordered) => {
  const { claims } = ordered;
  if (settlementIn(claims)) return settlement(ordered);
  if (claims.kind === 'replacement' && claims.purpose === 'withdrawal') return withdrawal(ordered);
  // nothing else of an account whose balance consists of outputs pays nobody: see payment
  if (ordered.family.spendsOutputs && getSum(ordered) === 0n) return consolidation(ordered);
  return claims.client_id === houseClientId ? gas(ordered) : payment(ordered);
};

const notEnabled: Rule = ({ claims }) => {
  throw mismatch('kind', `this node has no rule for a ${claims.kind}`);
};

/** What the bytes have to be, by the kind of their order. */
export const rules: Record<SigningClaims['kind'], Rule> = {
  transfer: payment,
  replacement: laterAttempt,
  reissue: laterAttempt,
  cancellation,
  settlement,
  typed_data: authorisation,
  gas,
  withdrawal,
  consolidation,
  sweep: notEnabled,
};
