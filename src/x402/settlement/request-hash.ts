import { createHash } from 'node:crypto';
import type { PaymentMethod, PaymentRequest } from '../../chains/payments';

/**
 * SHA-256 of what a client asks to have settled. Hints (`extra`) and extensions are not part
 * of it: they may change when the request is repeated.
 * @param method of the request
 * @param identity what the payment uses up
 */
export function hashPaymentRequest(request: PaymentRequest, method: PaymentMethod, identity: string): Buffer {
  const { scheme, payloadType, chain, asset, payTo, amount, settlementAmount, payload, resource } = request;
  const { signature } = payload;
  const parts = [
    ...[chain.caip2, scheme, payloadType, method.normalise(asset), method.normalise(payTo)],
    ...[amount.toString(), settlementAmount?.toString() ?? null, identity, resource],
    typeof signature === 'string' ? method.normalise(signature) : null,
  ];
  return createHash('sha256').update(JSON.stringify(parts)).digest();
}
