import { paymentReasons } from '../chains/payment-reasons';

/** Reasons that do not depend on how a payer has signed. */
const protocolReasons = ['invalid_x402_version', 'invalid_network', 'unsupported_scheme', 'unexpected_verify_error'] as const;

/** Everything that is ever answered as `invalidReason`: a closed list, so that no text of a node or a library gets into an answer. */
export const reasons = [...protocolReasons, ...paymentReasons] as const;

export type Reason = (typeof reasons)[number];
