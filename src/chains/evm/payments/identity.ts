import type { Hex } from '../../types';

/** What an authorisation uses up at its token, in canonical form. */
export const authorizationIdentity = (token: string, payer: string, nonce: Hex): string =>
  [token, payer, nonce].join('/').toLowerCase();

/** What a permit uses up at Permit2, in canonical form: nonces are of the owner, whatever the token. */
export const permitIdentity = (payer: string, nonce: bigint): string => `${payer.toLowerCase()}/${nonce}`;
