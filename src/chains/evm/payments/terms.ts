import type { Address } from 'viem';
import type { PaymentReason } from '../../payment-reasons';
import type { PaymentContext, PaymentRequest } from '../../payments';
import { tokenByContract } from '../../registry';
import type { TokenDefinition } from '../../types';
import { isZero, readAddress } from './fields';

/** What the resource server asks for, in canonical form. */
export interface Terms {
  token: TokenDefinition;
  contract: Address;
  payTo: Address;
}

/** null: not a registered token of the chain, or the recipient is no address, or the zero address. */
export function readTerms({ chain, asset, payTo }: PaymentRequest): Terms | null {
  const token = tokenByContract(chain, asset);
  const contract = readAddress(token?.contract);
  const recipient = readAddress(payTo);
  return token && contract && recipient && !isZero(recipient) ? { token, contract, payTo: recipient } : null;
}

/**
 * The gateway pays the fees of its own settling addresses' transactions and is no party of a payment. Somebody who pays itself buys
 * nothing, and the fee would be the gateway's; official facilitators settle it.
 */
export function ownPartyReason(payer: Address, payTo: Address, { settlers }: PaymentContext): PaymentReason | null {
  if (settlers.has(payTo.toLowerCase()) || payer === payTo) return 'invalid_payment_requirements';
  return settlers.has(payer.toLowerCase()) ? 'invalid_payload' : null;
}
