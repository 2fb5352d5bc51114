import { findPaymentMethod } from '../chains/payment-methods';
import type { Payment, PaymentContext, PaymentRequest } from '../chains/payments';
import { tokenByContract } from '../chains/registry';
import type { Reason } from './reasons';

/** All checks of a payment that need no chain. */
export function checkPayment(request: PaymentRequest, context: PaymentContext): { payment: Payment } | { reason: Reason } {
  const method = findPaymentMethod(request.chain.family, request);
  if (!method) return { reason: 'unsupported_payload_type' };
  const checked = method.check(request, context);
  // what a token's contract is paid, nobody can take out again
  const isLost = 'payment' in checked && tokenByContract(request.chain, checked.payment.payTo) !== undefined;
  return isLost ? { reason: 'invalid_payment_requirements' } : checked;
}
