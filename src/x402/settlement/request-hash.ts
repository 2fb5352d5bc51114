import { createHash } from 'node:crypto';
import type { PaymentIdentity, PaymentMethod, PaymentRequest } from '../../chains/payments';

/**
 * SHA-256 of what a client asks to have settled, and of what the payer has signed: one with another field is another request, although
 * it uses up the same. Hints (`extra`) and extensions are not part of it: they may change when the request is repeated. What the payment has to
 * be by `extra`, such as its memo, is a term and no hint: `identify` tells it.
 * @param method of the request
 */
export function hashPaymentRequest(
  request: PaymentRequest,
  method: PaymentMethod,
  { identity, signed }: Omit<PaymentIdentity, 'authorisation'>,
): Buffer {
  const { scheme, payloadType, chain, asset, payTo, amount, settlementAmount, payload, resource } = request;
  const { signature } = payload;
  const parts = [
    ...[chain.caip2, scheme, payloadType, method.normalise(asset), method.normalise(payTo)],
    ...[amount.toString(), settlementAmount?.toString() ?? null, identity, signed, resource],
    typeof signature === 'string' ? method.normalise(signature) : null,
  ];
  return sha256(parts);
}

/** What the bytes of a settlement say of its payment. */
export interface SettledTerms extends Pick<PaymentRequest, 'chain' | 'scheme' | 'payloadType' | 'asset' | 'payTo'> {
  /** Atomic units: the highest amount that the payer has signed, and what is paid. */
  authorised: bigint;
  paid: bigint;
  /** Of `PaymentIdentity`. */
  authorisation: string;
}

/**
 * In place of that of a request of which the bytes of its settlement alone are known, after the database was restored: with everything that
 * decides what is paid, and without what a resource server may have said beside it (`resource`).
 */
export const hashSettledTerms = (
  { chain, scheme, payloadType, asset, payTo, authorised, paid, authorisation }: SettledTerms,
  method: PaymentMethod,
): Buffer =>
  sha256([
    ...['settled', chain.caip2, scheme, payloadType, method.normalise(asset), method.normalise(payTo)],
    ...[authorised.toString(), paid.toString(), authorisation],
  ]);

/** The same of a request; null: no bytes could say what it asks for. */
export function hashTermsOf(
  { chain, scheme, payloadType, asset, payTo, amount: authorised, settlementAmount }: PaymentRequest,
  method: PaymentMethod,
  { authorisation }: PaymentIdentity,
): Buffer | null {
  const paid = scheme === 'upto' ? (settlementAmount ?? authorised) : authorised;
  return authorisation === null
    ? null
    : hashSettledTerms({ chain, scheme, payloadType, asset, payTo, authorised, paid, authorisation }, method);
}

const sha256 = (parts: readonly (string | null)[]): Buffer => createHash('sha256').update(JSON.stringify(parts)).digest();
