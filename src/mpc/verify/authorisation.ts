import { assertMatches } from './mismatch';
import { assertAction, assertOneToken, assertTakesAuthorisations, assertTenant, getSpending, type Rule } from './ordered';

/** An authorisation that could be carried out for longer would be a payment that nobody knows the end of. */
const maxWindowSeconds = 2 * 60 * 60;

/**
 * A client's own payment that somebody else carries out: signed, it counts as paid. It can be carried out once, and for a limited time, so
 * that what has expired is paid anew by another one.
 */
export const authorisation: Rule = (ordered) => {
  const { claims, described, same, now } = ordered;
  assertTenant(ordered);
  assertAction(ordered, 'authorisation');
  assertOneToken(ordered);
  assertMatches(claims.attempt === 1, 'attempt', 'a payment is authorised once');
  const facts = claims.kind === 'typed_data' ? claims.authorisation : undefined;
  const { authorisation: signed, expiresAt } = described;
  assertMatches(facts !== undefined, 'authorisation', 'the order does not say how it is paid');
  assertMatches(signed !== undefined && expiresAt !== undefined, 'unsigned', 'the bytes do not say how it is paid');
  assertMatches(facts.method === signed.method, 'authorisation.method', 'the bytes use another one');
  assertMatches(facts.identity === signed.identity, 'authorisation.identity', 'the bytes use up another one');
  const { facilitator } = signed;
  const isSame =
    facts.facilitator === null || facilitator === null ? facts.facilitator === facilitator : same(facts.facilitator, facilitator);
  assertMatches(isSame, 'authorisation.facilitator', 'the bytes let another one carry it out');
  assertMatches(facts.window_end === expiresAt, 'authorisation.window_end', 'the bytes expire at another time');
  assertMatches(now < expiresAt, 'authorisation.window_end', 'it is over');
  assertMatches(expiresAt - now <= maxWindowSeconds, 'authorisation.window_end', 'it is too far away');
  assertTakesAuthorisations(ordered, signed.contract);
  return getSpending(ordered);
};
