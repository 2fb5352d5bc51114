import { getFamily } from '../../../src/chains/families';
import { loadRegistry } from '../../../src/chains/registry';
import type { Hex } from '../../../src/chains/types';
import type { AuthorisationFacts, ClaimsOf, OrderSigner, SigningClaims } from '../../../src/messages/order';
import { verifyIntent } from '../../../src/mpc/verify-intent';
import { houseClientId } from '../../../src/platform/house';
import {
  authorisedAt,
  authorisedByToken,
  authorisedExact,
  authorisedUpto,
  type AuthorisationPlan,
  buildAuthorised,
} from '../../evm-authorisations';
import { orderHead } from '../../orders';
import { evmAccount } from './evm-account';

/** What a node makes of orders over payments that somebody else carries out. */

const registry = loadRegistry('local', ['ethereum', 'base']);
const ethereum = registry.get('ethereum');
const family = getFamily('evm');
const { key, path, from } = evmAccount(9, 0);
const tenant = '0190b5a4-0000-7000-8000-00000000000a';
const stranger = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';
const usdt = ethereum.tokens.find(({ symbol }) => symbol === 'USDT')?.contract as string;

const byToken: AuthorisationPlan = { ...authorisedByToken, from };
const exact: AuthorisationPlan = { ...authorisedExact, from };
const upto: AuthorisationPlan = { ...authorisedUpto, from };
const allowed: AuthorisationPlan = { ...exact, permitNonce: 3n };

interface Ordered {
  claims: SigningClaims;
  unsigned: Hex;
}

const signer = (unsigned: Hex): OrderSigner => ({
  ...{ key_id: 'w.1', path, protocol: 'ecdsa-secp256k1' },
  digests: family.signingPayloads(unsigned, from).map(({ digest }) => digest),
});

/** The order of an honest authoriser: bytes and claims agree. */
function orderFor(plan: AuthorisationPlan): Ordered & { claims: ClaimsOf<'typed_data'> } {
  const unsigned = buildAuthorised(plan);
  const { authorisation, expiresAt } = family.describe(unsigned);
  if (!authorisation || expiresAt === undefined) throw new Error('no authorisation');
  const { method, identity, facilitator } = authorisation;
  const claims = {
    ...orderHead(),
    kind: 'typed_data' as const,
    ...{ tx_id: 't1', attempt: 1, client_id: tenant, request: null, chain: ethereum.caip2, from, max_fee: '0' },
    signers: [signer(unsigned)],
    recipients: [{ address: plan.payTo, token: plan.token, amount: plan.amount.toString() }],
    authorisation: { method, identity, facilitator, window_end: expiresAt },
  };
  return { claims, unsigned };
}

const verify = ({ claims, unsigned }: Ordered, now = authorisedAt) =>
  verifyIntent(claims, unsigned, { registry, getFamily, keys: new Map([['w.1', key]]), now: () => now * 1000 });
const claim = (changes: object, plan = byToken): Ordered => {
  const { claims, unsigned } = orderFor(plan);
  return { unsigned, claims: { ...claims, ...changes } };
};
const fact = (changes: Partial<AuthorisationFacts>, plan = byToken): Ordered =>
  claim({ authorisation: { ...orderFor(plan).claims.authorisation, ...changes } }, plan);
/** The order over other bytes, with their digests. */
const changed = (changes: Partial<AuthorisationPlan>, plan = byToken): Ordered => {
  const unsigned = buildAuthorised({ ...plan, ...changes });
  return { unsigned, claims: { ...orderFor(plan).claims, signers: [signer(unsigned)] } };
};

function refusalOf(ordered: Ordered, now?: number): unknown {
  try {
    verify(ordered, now);
    return undefined;
  } catch (error) {
    return error;
  }
}
const mismatch = (field: string) => ({ code: 'intent_mismatch', message: expect.stringMatching(new RegExp(`^${field}: `)) });

test.each<[string, AuthorisationPlan]>([
  ['by the token', byToken],
  ['by Permit2', exact],
  ['of a highest amount', upto],
  ['with an allowance', allowed],
  ['by Permit2 of a token that takes no authorisations', { ...exact, token: usdt }],
])('signs a payment %s, which counts as paid', (_what, plan) => {
  const ordered = orderFor(plan);
  const { payloads, spends, resources } = verify(ordered);
  expect(payloads.map(({ digest }) => `0x${Buffer.from(digest).toString('hex')}`)).toEqual(ordered.claims.signers[0]?.digests);
  expect(payloads).toHaveLength(plan.permitNonce === null ? 1 : 2);
  expect(spends).toEqual({ chain: 'ethereum', token: plan.token, amount: 1_000n, fee: 0n, recipients: [plan.payTo] });
  expect(resources).toEqual(plan.method === 'eip3009' ? [] : [expect.stringContaining('/permit2/')]);
});

test.each<[string, string, Ordered]>([
  ['a key of the house', 'client_id', claim({ client_id: houseClientId })],
  ['a second attempt', 'attempt', claim({ attempt: 2 })],
  ['a transfer', 'kind', claim({ kind: 'transfer' })],
  ['a replacement', 'kind', claim({ kind: 'replacement', attempt: 2 })],
  ['a cancellation', 'kind', claim({ kind: 'cancellation', attempt: 2 })],
  ['no facts', 'authorisation', claim({ authorisation: undefined })],
  ['another method', 'authorisation.method', fact({ method: 'permit2_exact' })],
  ['another nonce', 'authorisation.identity', changed({ nonce: `0x${'a6'.repeat(32)}` })],
  ['another end', 'authorisation.window_end', fact({ window_end: authorisedAt + 60 })],
  ['other times', 'authorisation.window_end', changed({ validBefore: BigInt(authorisedAt + 61) })],
  ['anybody may take it', 'authorisation.facilitator', fact({ facilitator: null }, upto)],
  ['somebody else may take it', 'authorisation.facilitator', changed({ facilitator: stranger }, upto)],
  ['only one may take it', 'authorisation.facilitator', fact({ facilitator: stranger })],
  ['another recipient', 'recipients', changed({ payTo: stranger })],
  ['another amount', 'recipients', changed({ amount: 1_001n })],
  ['another token', 'recipients', changed({ token: usdt })],
  ['an unknown token', 'recipients', orderFor({ ...exact, token: stranger })],
  ['a token that takes no authorisations', 'recipients', orderFor({ ...byToken, token: usdt })],
  ['another chain', 'chain', changed({ chainId: 8453 })],
])('refuses %s', (_what, field, ordered) => {
  expect(refusalOf(ordered)).toMatchObject(mismatch(field));
});

test('refuses what is over, and what would be open for hours', () => {
  expect(refusalOf(orderFor(byToken), authorisedAt + 59)).toMatchObject(mismatch('authorisation.window_end'));
  expect(refusalOf(orderFor(byToken), authorisedAt + 58)).toBeUndefined();
  const long = orderFor({ ...byToken, validBefore: BigInt(authorisedAt + 2 * 3_600 + 2) });
  expect(refusalOf(long)).toMatchObject(mismatch('authorisation.window_end'));
  expect(refusalOf(long, authorisedAt + 1)).toBeUndefined();
});

test('refuses bytes with a permit under an order over bytes without', () => {
  const { claims } = orderFor(exact);
  const { unsigned } = orderFor(allowed);
  expect(refusalOf({ claims, unsigned })).toMatchObject({ code: 'intent_mismatch' });
});
