/**
 * Every value of the field `alert` of log lines. Each needs an operator; docs/runbook/alerts.md has a paragraph for each. A test compares
 * the list with the source.
 */
export const alertNames = [
  'account_used_elsewhere',
  'address_differs',
  'blocks_not_agreed',
  'broadcast_refused',
  'deposits_untraced',
  'ended_transfer_changed',
  'ended_transfer_reorganised',
  'endpoints_not_agreed',
  'fees_not_believed',
  'impossible_attempt_executed',
  'journal_behind',
  'journal_contradicted',
  'journal_mark_unwritable',
  'key_not_attested',
  'ledger_shortfall',
  'node_banned_repeatedly',
  'order_from_the_future',
  'order_not_ours',
  'orders_missing',
  'outputs_spent_elsewhere',
  'peer_banned',
  'refund_not_final',
  'reopened_not_cancelled',
  'settlement_not_paid',
  'settler_charged_otherwise',
  'settler_dry',
  'share_missing',
  'spent_elsewhere',
  'traces_missing',
  'transfer_executed_twice',
  'transfer_not_observed',
  'transfer_without_workflow',
] as const;

export type AlertName = (typeof alertNames)[number];

const known: ReadonlySet<unknown> = new Set(alertNames);

export const isAlertName = (value: unknown): value is AlertName => known.has(value);
