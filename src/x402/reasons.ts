import { paymentReasons } from '../chains/payment-reasons';

/** Reasons that do not depend on how a payer has signed. */
const protocolReasons = [
  'invalid_x402_version',
  'invalid_network',
  'unsupported_scheme',
  'invalid_transaction_state',
  'unexpected_verify_error',
] as const;

/** The same, of settlements alone. */
const settlementReasons = [
  // not an end: the transaction may still be executed
  'settlement_pending',
  'duplicate_settlement',
  'payment_identifier_conflict',
  'unexpected_settle_error',
] as const;

/** Everything that is ever answered as `invalidReason` or `errorReason`: a closed list, so that no text of a node or a library gets into an answer. */
export const reasons = [...protocolReasons, ...settlementReasons, ...paymentReasons] as const;

export type Reason = (typeof reasons)[number];
