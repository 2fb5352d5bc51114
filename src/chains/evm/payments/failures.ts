import type { PaymentReason } from '../../payment-reasons';
import type { SettlementFailure } from '../../payments';

type Failures = Record<SettlementFailure, PaymentReason>;

/** Named as the official package names the same failures of its own settlements. */
export const authorizationFailures: Failures = {
  expired: 'invalid_exact_evm_payload_authorization_valid_before',
  refused: 'invalid_exact_evm_transaction_simulation_failed',
  reverted: 'invalid_exact_evm_transaction_failed',
  unobserved: 'invalid_exact_evm_transfer_event_mismatch',
};

export const exactPermitFailures: Failures = {
  ...authorizationFailures,
  expired: 'permit2_deadline_expired',
  refused: 'permit2_simulation_failed',
};

export const uptoPermitFailures: Failures = { ...exactPermitFailures, reverted: 'invalid_upto_evm_transaction_failed' };
