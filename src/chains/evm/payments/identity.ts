import type { Payment } from '../../payments';
import type { Hex } from '../../types';

/** What an authorisation uses up at its token, in canonical form. */
export const authorizationIdentity = (token: string, payer: string, nonce: Hex): string =>
  [token, payer, nonce].join('/').toLowerCase();

/** What a permit uses up at Permit2, in canonical form: nonces are of the owner, whatever the token. */
export const permitIdentity = (payer: string, nonce: bigint): string => `${payer.toLowerCase()}/${nonce}`;

type Signed = Pick<
  Payment,
  'method' | 'payer' | 'payTo' | 'authorised' | 'nonce' | 'validAfter' | 'validBefore' | 'signature' | 'facilitator'
>;

/** What the payer has signed about `token`, and the signature as the contract gets it: one text for one authorisation. */
export const authorisationOf = (
  { method, payer, payTo, authorised, nonce, validAfter, validBefore, signature, facilitator }: Signed,
  token: string,
): string =>
  [method, token, payer, payTo, authorised, nonce, validAfter, validBefore, facilitator, signature].join().toLowerCase();
