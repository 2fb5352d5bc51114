import type { SigningClaims } from '../../messages/order';
import { houseClientId } from '../../platform/house';
import { cancellation } from './cancellation';
import { gas } from './gas';
import { mismatch } from './mismatch';
import { type Rule, settlementIn } from './ordered';
import { payment } from './payment';
import { settlement } from './settlement';

/** What a first attempt of the same key may do; that it takes the place of that one, and settles the same, the journal shows. */
const again: Rule = (ordered) => {
  const { claims } = ordered;
  if (settlementIn(claims)) return settlement(ordered);
  return claims.client_id === houseClientId ? gas(ordered) : payment(ordered);
};

const unknown: Rule = ({ claims }) => {
  throw mismatch('kind', `this node has no rule for a ${claims.kind}`);
};

/** What the bytes have to be, by the kind of their order. */
export const rules: Record<SigningClaims['kind'], Rule> = {
  transfer: payment,
  replacement: again,
  reissue: again,
  cancellation,
  settlement,
  gas,
  consolidation: unknown,
  sweep: unknown,
};
