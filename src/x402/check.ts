import { findPaymentMethod } from '../chains/payment-methods';
import type { Payment, PaymentContext, PaymentRequest } from '../chains/payments';
import type { Reason } from './reasons';

/** All checks of a payment that need no chain. */
export function checkPayment(request: PaymentRequest, context: PaymentContext): { payment: Payment } | { reason: Reason } {
  const method = findPaymentMethod(request.chain.family, request);
  return method ? method.check(request, context) : { reason: 'unsupported_payload_type' };
}
