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
  { identity, signed }: PaymentIdentity,
): Buffer {
  const { scheme, payloadType, chain, asset, payTo, amount, settlementAmount, payload, resource } = request;
  const { signature } = payload;
  const parts = [
    ...[chain.caip2, scheme, payloadType, method.normalise(asset), method.normalise(payTo)],
    ...[amount.toString(), settlementAmount?.toString() ?? null, identity, signed, resource],
    typeof signature === 'string' ? method.normalise(signature) : null,
  ];
  return createHash('sha256').update(JSON.stringify(parts)).digest();
}
