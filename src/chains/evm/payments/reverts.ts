import { toFunctionSelector } from 'viem';
import type { PaymentReason } from '../../payment-reasons';
import type { Hex } from '../../types';

/** Errors of Permit2 and the x402 proxies. */
const reasons: Record<string, PaymentReason> = {
  'PaymentTooEarly()': 'permit2_payment_too_early',
  'InvalidAmount()': 'permit2_invalid_amount',
  'InvalidAmount(uint256)': 'permit2_invalid_amount',
  'InvalidDestination()': 'permit2_invalid_destination',
  'InvalidOwner()': 'permit2_invalid_owner',
  'Permit2612AmountMismatch()': 'permit2_2612_amount_mismatch',
  'AmountExceedsPermitted()': 'upto_amount_exceeds_permitted',
  'UnauthorizedFacilitator()': 'upto_unauthorized_facilitator',
  'InvalidNonce()': 'permit2_invalid_nonce',
  'SignatureExpired(uint256)': 'permit2_deadline_expired',
  'InvalidSigner()': 'invalid_permit2_signature',
  'InvalidSignature()': 'invalid_permit2_signature',
  'InvalidSignatureLength()': 'invalid_permit2_signature',
  'InvalidContractSignature()': 'invalid_permit2_signature',
};

const bySelector = new Map(Object.entries(reasons).map(([error, reason]) => [toFunctionSelector(`function ${error}`), reason]));

/** By the four bytes that name an error, never by texts. undefined: another error, or none. */
export const reasonOfRevert = (data: Hex | null): PaymentReason | undefined =>
  bySelector.get((data?.slice(0, 10) ?? '0x') as Hex);
