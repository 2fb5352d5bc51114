import type { Rights } from './grants';

/**
 * Which role may do what with which table; what is not listed is refused. `update (…)` names the columns: what is not named is never
 * written after its insert. `lock` is the right to lock rows without changing them. What triggers write into other tables is written
 * with the rights of the owner (`security definer`) and is not listed.
 */
export const rights: Rights = {
  clients: {
    gateway_api: 'select, lock',
    gateway_worker: 'select',
    gateway_authoriser: 'select',
    gateway_operator: 'select, insert, update (status, whitelist_mode, whitelist_cooling_seconds, self_approval)',
  },
  users: { gateway_api: 'select', gateway_operator: 'select, insert, update (status)' },
  api_keys: { gateway_api: 'select', gateway_operator: 'select, insert, update (revoked_at)' },
  login_failures: { gateway_api: 'select, insert, update (points, expire), delete' },
  user_totp: {
    gateway_api: 'select, update (failures, locked_until, locks)',
    gateway_operator: 'select, insert, update (secret, confirmed_at, failures, locked_until, locks, created_at), delete',
  },
  totp_steps: { gateway_api: 'select, insert, delete', gateway_operator: 'select, insert, delete' },
  totp_recovery_codes: { gateway_operator: 'select, insert, update (used_at), delete' },

  wallets: {
    gateway_api: 'select, insert, lock',
    gateway_worker: 'select, update (status, key_status, key_id, public_key, chain_code, updated_at)',
    gateway_authoriser: 'select, lock',
    gateway_operator: 'select, insert, update (status, updated_at)',
  },
  wallet_attestations: { gateway_api: 'select', gateway_worker: 'select, insert', gateway_operator: 'select' },
  wallet_limits: {
    gateway_api: 'select, lock',
    gateway_authoriser: 'select, lock',
    gateway_operator: 'select, insert, update (max_single, max_daily, updated_at), delete',
  },
  accounts: {
    gateway_api: 'select, insert',
    gateway_worker: 'select',
    gateway_authoriser: 'select, lock',
    gateway_operator: 'select, insert, update (status)',
  },
  ledger_accounts: {
    gateway_api: 'select, insert, lock',
    gateway_worker: 'select, insert, update (frozen_reason)',
    gateway_authoriser: 'select, lock',
    gateway_operator: 'select, update (frozen_reason)',
  },
  assets: { gateway_api: 'select, insert', gateway_operator: 'select' },

  transaction_types: {
    gateway_api: 'select',
    gateway_worker: 'select',
    gateway_authoriser: 'select',
    gateway_operator: 'select',
  },
  transactions: {
    gateway_api: `select, insert, update (status, version, approved_by, approved_at, approval_expires_at, failure_code,
      failure_message)`,
    gateway_worker: `select, insert, update (status, version, tx_hash, block_number, block_hash, fee, failure_code, failure_message,
      approval_expires_at, cancellation_reason, screening_note, finalized_at)`,
    gateway_authoriser: `select, update (status, version, signing_begun_at, fee_locked, failure_code, failure_message,
      cancellation_reason, screening_note)`,
    gateway_operator: 'select',
  },
  transaction_events: { gateway_api: 'select', gateway_operator: 'select' },
  reservations: {
    gateway_worker: 'select, update (released_at)',
    gateway_authoriser: 'select, insert, update (released_at)',
    gateway_operator: 'select',
  },
  transfer_attempts: {
    gateway_api: 'select',
    gateway_worker: `select, update (tx_hash, signed, signed_at, broadcast_at, impossible_proof, block_number, block_hash, included_id,
      success, fee, debited, received)`,
    gateway_authoriser: 'select, insert',
    gateway_operator: 'select',
  },
  attempt_reservations: {
    gateway_worker: 'select',
    gateway_authoriser: 'select, insert',
    gateway_operator: 'select',
  },
  attempt_ids: {
    gateway_api: 'select',
    gateway_worker: 'select, insert',
    gateway_authoriser: 'select',
    gateway_operator: 'select',
  },
  orders: { gateway_authoriser: 'select, insert', gateway_operator: 'select' },
  node_refusals: { gateway_authoriser: 'select, insert', gateway_operator: 'select' },
  operator_requests: {
    gateway_worker: 'select',
    gateway_authoriser: 'select',
    gateway_operator: 'select, insert',
  },
  ledger_postings: {
    gateway_api: 'select, insert',
    gateway_worker: 'select, insert',
    gateway_authoriser: 'select, insert',
    gateway_operator: 'select',
  },
  ledger_entries: {
    gateway_api: 'select, insert',
    gateway_worker: 'select, insert',
    gateway_authoriser: 'select, insert',
    gateway_operator: 'select',
  },

  chain_cursors: {
    gateway_api: 'select',
    gateway_worker: 'select, insert, update (next_block, head_block, fee_levels, fee_levels_at, updated_at)',
    gateway_authoriser: 'select',
    gateway_operator: 'select',
  },
  chain_blocks: {
    gateway_api: 'select',
    gateway_worker: 'select, insert, update (hash, parent_hash), delete',
    gateway_authoriser: 'select',
    gateway_operator: 'select',
  },

  audit_events: {
    gateway_api: 'select, insert',
    gateway_worker: 'insert',
    gateway_authoriser: 'insert',
    gateway_operator: 'select, insert',
  },
  // the API seals the log
  audit_pending: { gateway_api: 'select, delete', gateway_operator: 'select' },
  audit_seals: { gateway_api: 'select, insert', gateway_operator: 'select' },
  audit_seal_entries: { gateway_api: 'select, insert', gateway_operator: 'select' },

  security_factors: {
    gateway_api: 'select, insert, update (status, label, reason, activated_at, updated_at, deleted_at)',
    gateway_worker: 'select',
    gateway_authoriser: 'select',
    gateway_operator: 'select',
  },
  blacklist_versions: { gateway_worker: 'select, update (dispatched, dispatched_at)' },
  blacklist_changes: { gateway_authoriser: 'select' },

  webhook_endpoints: {
    gateway_api: `select, insert, update (url, description, events, status, disabled_reason, disabled_at, secret, secret_created_by,
      previous_secret, previous_secret_until, failing_since, updated_at, deleted_at)`,
    gateway_worker:
      'select, update (status, disabled_reason, disabled_at, previous_secret, previous_secret_until, failing_since, updated_at)',
    gateway_operator: 'select, update (secret, previous_secret)',
  },
  webhook_events: { gateway_api: 'select, insert', gateway_worker: 'select, delete' },
  webhook_deliveries: {
    gateway_api: 'select, insert, update (status, round_attempts, next_attempt_at, undispatched_since, ended_at)',
    gateway_worker: 'select, update (status, attempts, round_attempts, next_attempt_at, undispatched_since, ended_at)',
  },
  webhook_attempts: { gateway_api: 'select', gateway_worker: 'select, insert' },

  idempotency_keys: {
    gateway_api: `select, insert, update (fingerprint, resource_id, leased_until, response_status, response_headers, response_body,
      created_at), delete`,
  },
  request_quotas: { gateway_api: 'select, insert, update (points, expire), delete' },
  workflow_outbox: {
    gateway_api: 'select, insert, lock, delete',
    gateway_worker: 'select, insert, update (deliver_after), delete',
    gateway_operator: 'select, insert',
  },
};

/** Granted by the migration that adds the table. */
export const orderComparisonRights: Rights = {
  order_comparison: {
    gateway_api: 'select',
    gateway_worker: 'select',
    gateway_authoriser:
      'select, update (compared_as, compared_at, compared_after, missing_since, missing_after, missing_order, missing_node)',
    gateway_operator: 'select',
  },
  rebuilt_requests: { gateway_api: 'select', gateway_operator: 'select' },
};

/** Granted by the migration that adds the table. */
export const settlerRights: Rights = {
  settlers: {
    gateway_api: 'select',
    gateway_worker: 'select',
    gateway_authoriser: 'select',
    gateway_operator: 'select, insert, update (status, is_primary)',
  },
};

/** Granted by the migration that adds the tables. */
export const x402Rights: Rights = {
  x402_policies: {
    gateway_api: 'select',
    gateway_worker: 'select',
    gateway_authoriser: 'select',
    gateway_operator: 'select, insert, update (is_enabled, gas_per_day, sponsors_permit, sponsors_approval, top_up_per_day)',
  },
  x402_settlements: {
    gateway_api: 'select, insert',
    gateway_worker: 'select',
    gateway_authoriser: 'select',
    gateway_operator: 'select',
  },
};

/** Granted by the migration that adds the table. */
export const refusalRights: Rights = {
  refusals: {
    gateway_worker: 'select, insert (tx_id, attempt, kind, code, reason)',
    gateway_authoriser: 'insert (tx_id, attempt, kind, code, reason)',
    gateway_operator: 'select',
  },
};

/** Granted by the migration that adds the table. */
export const foreignOrdinalRights: Rights = {
  foreign_ordinals: {
    gateway_authoriser: 'select',
    gateway_operator: 'select, insert (chain, owner, below)',
  },
};

/** Granted by the migration that adds the table. */
export const approvalRights: Rights = {
  x402_approvals: {
    gateway_api: 'select, insert',
    gateway_worker: 'select, update (sent_at)',
    gateway_authoriser: 'select',
    gateway_operator: 'select',
  },
};

/** Granted by the migration that adds the table. */
export const authorisationRights: Rights = {
  x402_authorisations: {
    gateway_api: 'select, insert',
    gateway_worker: 'select',
    gateway_authoriser: 'select',
    gateway_operator: 'select',
  },
};

/** Granted by the migration that adds the table. */
export const x402CostRights: Rights = {
  x402_costs: {
    gateway_api: 'select',
    gateway_worker: 'select',
    gateway_authoriser: 'select',
    gateway_operator: 'select',
  },
};

/** Granted by the migration that adds the table. */
export const outputRights: Rights = {
  chain_outputs: {
    gateway_api: 'select',
    gateway_worker: 'select, insert, update (block_number, spendable_from, spent_by, spent_block), delete',
    gateway_authoriser: 'select',
    gateway_operator: 'select',
  },
};

/** Granted by the migration that adds the tables. */
export const unconfirmedRights: Rights = {
  attempt_outputs: {
    gateway_worker: 'select',
    gateway_authoriser: 'select, insert',
    gateway_operator: 'select',
  },
  output_origins: {
    gateway_worker: 'select, insert, update (spent_by, spent_block), delete',
    gateway_operator: 'select',
  },
};

/** Granted by the migration that adds the table. */
export const foreignSpendRights: Rights = {
  foreign_spends: {
    gateway_worker: 'select, insert, delete',
    gateway_operator: 'select',
  },
};

/** Granted by the migration that adds the table. */
export const withdrawalRights: Rights = {
  settler_withdrawals: {
    gateway_worker: 'select, update (refused)',
    gateway_authoriser: 'select',
    gateway_operator: 'select, insert (withdrawal_id, settler_id, to_address, to_address_key, amount, operator)',
  },
};

/** Granted by the migration that adds the table; of the others, what operators write for it. */
export const consolidationRights: Rights = {
  consolidations: {
    gateway_worker: 'select',
    gateway_authoriser: 'select',
    gateway_operator: 'select, insert',
  },
  transactions: { gateway_operator: 'insert' },
  ledger_postings: { gateway_operator: 'insert' },
};

/** Granted by the migration that adds the tables. */
export const accountKeyRights: Rights = {
  account_key_requests: {
    gateway_api: 'select, insert, update (attempts, in_flight_until), delete',
    gateway_authoriser: 'select, update (key_id)',
    gateway_operator: 'select',
  },
  account_attestations: {
    gateway_api: 'select, insert',
    gateway_worker: 'select',
    gateway_operator: 'select',
  },
};

/** Granted by the migration that adds the column. */
export const walletFactoryRights: Rights = {
  x402_policies: { gateway_operator: 'update (wallet_factories)' },
};

/** Accounts of the house have keys of their own too. */
export const houseKeyRights: Rights = {
  account_key_requests: { gateway_operator: 'insert, update (attempts, in_flight_until), delete' },
  account_attestations: { gateway_operator: 'insert' },
};

/** Granted by the migration that adds the table and the column. */
export const doubtedAnswerRights: Rights = {
  doubted_ordinals: {
    gateway_api: 'select',
    gateway_worker: 'select',
    gateway_authoriser: 'select, insert, update (reported, expected, seen_at), delete',
    gateway_operator: 'select, delete',
  },
  chain_cursors: { gateway_worker: 'update (agreed_to)' },
};

/** Granted by the migration that adds the table. */
export const walletSumRights: Rights = {
  wallet_sums: { gateway_api: 'select', gateway_authoriser: 'select', gateway_operator: 'select' },
};

/** Granted by the migration that adds the table. */
export const listTotalRights: Rights = {
  list_totals: { gateway_api: 'select', gateway_operator: 'select' },
};

/** Granted by the migration that adds the table. */
export const listCountRights: Rights = {
  list_counts: { gateway_api: 'select', gateway_operator: 'select' },
};

/** Granted by the migration that adds the column. */
export const blacklistClaimRights: Rights = {
  blacklist_versions: { gateway_worker: 'update (claimed_until)' },
};

/** Granted by the migration that adds the table. */
export const payerBrakeRights: Rights = {
  x402_failures: {
    gateway_api: 'select',
    gateway_authoriser: 'select',
    gateway_operator: 'select',
  },
  x402_policies: { gateway_operator: 'update (failures_per_payer)' },
};

/** What starts transfers leaves out those that wait behind a parked one of their sender. */
export const senderLineRights: Rights = {
  reservations: { gateway_api: 'select' },
};

/** What the follower has seen to use up nonces beside the attempts. */
export const foreignTransactionRights: Rights = {
  foreign_transactions: {
    gateway_worker: 'select, insert, update (id, block_number), delete',
    gateway_authoriser: 'select',
    gateway_operator: 'select',
  },
};

/** Granted by the migration that adds the column. */
export const agreedEndRights: Rights = {
  transfer_attempts: { gateway_worker: 'update (agreed_by)' },
};

/** Granted by the migration that adds the table and the view. */
export const pooledKeyRights: Rights = {
  pooled_keys: {
    gateway_authoriser: 'select, insert (key_id), update (wallet_id, taken_at)',
    gateway_operator: 'select',
  },
  free_pooled_keys: { gateway_worker: 'select', gateway_authoriser: 'select', gateway_operator: 'select' },
};

/** The API leaves to the dispatcher what has to wait for others; the dispatcher keeps the turns. */
export const outboxTurnRights: Rights = {
  workflow_outbox: { gateway_api: 'update (deliver_after)', gateway_worker: 'update (turn, is_postponed)' },
};

/** Granted by the migration that adds the table. */
export const requestTraceRights: Rights = {
  request_traces: {
    gateway_api: 'select, insert (subject_id, trace_parent), delete',
    gateway_worker: 'select, insert (subject_id, trace_parent)',
    gateway_operator: 'select',
  },
};

/** Granted by the migration that adds the column. */
export const attemptLeaseRights: Rights = {
  webhook_deliveries: { gateway_worker: 'update (attempting_until)' },
};

/** Users reject transfers that wait for their approval. */
export const rejectionRights: Rights = {
  refusals: { gateway_api: 'select, insert (tx_id, attempt, kind, code, reason)' },
};

/** What was delivered to clients about a transaction; the text of an answer is left out. */
export const webhookReadingRights: Rights = {
  webhook_events: { gateway_operator: 'select' },
  webhook_deliveries: { gateway_operator: 'select' },
  webhook_attempts: { gateway_operator: 'select (delivery_id, attempt, at, duration_ms, status_code, error)' },
};

/** The worker shows for how long transactions are parked. */
export const parkedSinceRights: Rights = {
  transaction_events: { gateway_worker: 'select' },
};

/** Granted by the migration that adds the table: operators ask, the API carries it out and says what became of it. */
export const redoRights: Rights = {
  redo_requests: {
    gateway_api: 'select, update (attempting_until, ended_at, new_tx_id, failure_code, failure_message)',
    gateway_operator: 'select, insert (tx_id, operator)',
  },
};

/** Operators cancel withdrawals from settlers of which nothing is signed; triggers refuse every other change of a transaction. */
export const cancelledWithdrawalRights: Rights = {
  transactions: { gateway_operator: 'update (status, version)' },
  ledger_entries: { gateway_operator: 'insert' },
};

/** Operators take back withdrawals that they have asked for and no worker has made. */
export const cancelledRequestRights: Rights = {
  settler_withdrawals: { gateway_operator: 'update (refused)' },
};

/** Granted by the migration that adds the columns. */
export const untracedBlockRights: Rights = {
  chain_cursors: { gateway_worker: 'update (untraced_from, untraced_to, untraced_at)' },
};

/** Granted by the migration that adds the column. */
export const bookedAttemptRights: Rights = {
  transfer_attempts: { gateway_worker: 'update (is_booked)' },
};
