/**
 * All failure codes with their HTTP status and whether a retry can succeed. Pure data, shared by workflows, activities and the API.
 * Codes are defined only here.
 */
export const failureCodes = {
  invalid_parameter: { status: 400, retryable: false, title: 'Invalid parameter' },
  invalid_address: { status: 400, retryable: false, title: 'Invalid address' },
  insufficient_balance: { status: 400, retryable: false, title: 'Insufficient balance' },
  wallet_not_active: { status: 400, retryable: false, title: 'Wallet not active' },
  account_not_active: { status: 400, retryable: false, title: 'Account not active' },
  asset_already_exists: { status: 400, retryable: false, title: 'Asset already exists' },
  business_error: { status: 400, retryable: false, title: 'Refused by a business rule' },
  unauthorized: { status: 401, retryable: false, title: 'Unauthorized' },
  invalid_credentials: { status: 401, retryable: false, title: 'Invalid credentials' },
  MFA_REQUIRED: { status: 400, retryable: false, title: 'MFA code required' },
  MFA_NOT_ENABLED: { status: 400, retryable: false, title: 'MFA not enabled' },
  MFA_INVALID: { status: 400, retryable: false, title: 'MFA code invalid' },
  address_blacklisted: { status: 403, retryable: false, title: 'Address blacklisted' },
  address_not_whitelisted: { status: 403, retryable: false, title: 'Address not whitelisted' },
  approver_is_requester: { status: 403, retryable: false, title: 'Another user has to approve it' },
  not_found: { status: 404, retryable: false, title: 'Not found' },
  SECURITY_FACTOR_NOT_FOUND: { status: 404, retryable: false, title: 'Security factor not found' },
  method_not_allowed: { status: 405, retryable: false, title: 'Method not allowed' },
  not_cancellable: { status: 409, retryable: false, title: 'Not cancellable' },
  not_awaiting_approval: { status: 409, retryable: false, title: 'Not awaiting approval' },
  external_id_in_use: { status: 409, retryable: false, title: 'External id in use' },
  address_differs: { status: 409, retryable: false, title: 'The stored address is not the one of the key' },
  SECURITY_FACTOR_ALREADY_EXISTS: { status: 409, retryable: false, title: 'Security factor already exists' },
  idempotency_in_progress: { status: 409, retryable: true, title: 'First request still running' },
  payload_too_large: { status: 413, retryable: false, title: 'Payload too large' },
  unsupported_media_type: { status: 415, retryable: false, title: 'Unsupported media type' },
  idempotency_key_reused: { status: 422, retryable: false, title: 'Idempotency key reused' },
  rate_limited: { status: 429, retryable: true, title: 'Too many requests' },
  internal_error: { status: 500, retryable: true, title: 'Internal error' },
  unavailable: { status: 503, retryable: true, title: 'Temporarily unavailable' },
  outcome_unknown: { status: 503, retryable: true, title: 'Outcome unknown' },
  reconcile_required: { status: 503, retryable: true, title: 'Orders of the signing nodes are missing or not compared' },
  chain_unavailable: { status: 503, retryable: true, title: 'Chain unavailable' },
  /** The codes below are not used in responses: they end or park a transfer and are shown in its `failure`. */
  approval_expired: { status: 403, retryable: false, title: 'Not approved in time' },
  approval_rejected: { status: 403, retryable: false, title: 'Rejected by a user' },
  fee_above_bound: { status: 400, retryable: false, title: 'Network fee above what could be locked' },
  would_revert: { status: 400, retryable: false, title: 'Not sent: the chain would refuse it' },
  not_estimated: { status: 503, retryable: true, title: 'The chain could not say what the transaction would cost' },
  reverted_on_chain: { status: 400, retryable: false, title: 'The transaction failed on chain' },
  transfer_not_observed: { status: 400, retryable: false, title: 'Executed on chain without the expected token transfer' },
  intent_mismatch: { status: 400, retryable: false, title: 'What is to be signed differs from the request or the order' },
  order_refused: { status: 400, retryable: false, title: 'A signing node refused the order' },
  node_policy: { status: 400, retryable: false, title: 'Refused by the limits of the signing nodes' },
  key_peer_banned: { status: 503, retryable: true, title: 'A signing node no longer signs with this peer by this key' },
  key_frozen: { status: 400, retryable: false, title: 'No two signing nodes are left that sign together by this key' },
  journal_behind: { status: 503, retryable: true, title: 'A signing node lacks a part of its journal' },
  reissue_unproven: { status: 503, retryable: true, title: 'A signing node has no proof that the earlier attempts have expired' },
  invalid_signature: { status: 400, retryable: false, title: 'A signature is not of its signer' },
  signers_unavailable: { status: 503, retryable: true, title: 'Not enough signing nodes' },
  broadcast_rejected: { status: 400, retryable: false, title: 'The chain node refused the signed transaction' },
  abandoned: { status: 400, retryable: false, title: 'Abandoned: none of its attempts can be executed any more' },
  expired: { status: 400, retryable: false, title: 'All attempts have expired without being executed' },
  funding_lost: { status: 400, retryable: false, title: 'What it was to spend is not on the chain any more' },
  superseded: { status: 400, retryable: false, title: 'Another transaction of its sender was executed in its place' },
  stuck: { status: 400, retryable: false, title: 'Not included in time and not replaceable within the fee bound' },
} as const satisfies Record<string, { status: number; retryable: boolean; title: string }>;

export type FailureCode = keyof typeof failureCodes;

/**
 * Codes of answers and of signing nodes to each other alone: no transaction is parked or ends with one. Each of the others has a paragraph in
 * docs/runbook/failure-codes.md.
 */
const answerCodes: ReadonlySet<FailureCode> = new Set([
  ...(['invalid_address', 'asset_already_exists', 'unauthorized', 'invalid_credentials', 'address_differs'] as const),
  ...(['MFA_REQUIRED', 'MFA_NOT_ENABLED', 'MFA_INVALID', 'approver_is_requester', 'not_awaiting_approval'] as const),
  ...(['SECURITY_FACTOR_NOT_FOUND', 'SECURITY_FACTOR_ALREADY_EXISTS', 'external_id_in_use', 'method_not_allowed'] as const),
  ...(['idempotency_in_progress', 'idempotency_key_reused', 'payload_too_large', 'unsupported_media_type'] as const),
  ...(['rate_limited', 'outcome_unknown', 'reconcile_required'] as const),
]);

/** Where operators read what it means that a transaction has this code; null: none has it. */
export const runbookOf = (code: FailureCode): string | null =>
  answerCodes.has(code) ? null : `docs/runbook/failure-codes.md#${code}`;

/** True for every string that is one of the codes. */
export function isFailureCode(value: unknown): value is FailureCode {
  return typeof value === 'string' && Object.hasOwn(failureCodes, value);
}
