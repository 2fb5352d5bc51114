import type { PaymentReason } from '../../payment-reasons';
import type { AgreedField } from '../../payments';
import { readAddress, readSignature } from './fields';

/** Named as the official package names the same difference in what the payer has signed. */
export const authorizationDisagreements: Record<AgreedField, PaymentReason> = {
  scheme: 'invalid_exact_evm_scheme',
  network: 'invalid_exact_evm_network_mismatch',
  asset: 'invalid_payment_requirements',
  payTo: 'invalid_exact_evm_recipient_mismatch',
  amount: 'invalid_exact_evm_payload_authorization_value_mismatch',
};

export const exactPermitDisagreements: Record<AgreedField, PaymentReason> = {
  scheme: 'unsupported_payload_type',
  network: 'invalid_exact_evm_network_mismatch',
  asset: 'permit2_token_mismatch',
  payTo: 'invalid_permit2_recipient_mismatch',
  amount: 'permit2_amount_mismatch',
};

export const uptoPermitDisagreements: Record<AgreedField, PaymentReason> = {
  ...exactPermitDisagreements,
  scheme: 'invalid_upto_evm_scheme',
  network: 'invalid_upto_evm_network_mismatch',
};

/** Addresses and signatures as they are read everywhere in payments: in any letter case. */
export const normalise = (text: string): string => readAddress(text) ?? readSignature(text) ?? text;
