import { paymentReasons } from '../chains/payment-reasons';

/** Reasons that do not depend on how a payer has signed. */
const protocolReasons = [
  'invalid_x402_version',
  'invalid_network',
  'unsupported_scheme',
  'invalid_exact_evm_scheme',
  'invalid_exact_evm_network_mismatch',
  'invalid_upto_evm_scheme',
  'invalid_upto_evm_network_mismatch',
  'unexpected_verify_error',
] as const;

/** Everything that is ever answered as `invalidReason`: a closed list, so that no text of a node or a library gets into an answer. */
export const reasons = [...protocolReasons, ...paymentReasons] as const;

export type Reason = (typeof reasons)[number];
