import { presentError } from '../http/batch';
import { presentListedTransaction } from '../transactions/presenter';
import type { ListedTransactions } from '../transactions/service';
import type { ApprovalPageView, DecisionsView } from './approval-schema';
import type { DecidedItem } from './screen/decide';

export const presentApprovals = ({ rows, total, isExact, hasMore, next }: ListedTransactions): ApprovalPageView => ({
  data: rows.map((row) => ({
    ...presentListedTransaction(row),
    expires_at: row.tx.approvalExpiresAt?.toISOString() ?? null,
    requested_by: row.tx.requestedBy,
  })),
  total,
  total_is_exact: isExact,
  has_more: hasMore,
  next,
});

export const presentDecisions = (items: DecidedItem[]): DecisionsView => ({
  results: items.map(({ txId, decision, outcome }) => ({
    tx_id: txId,
    decision,
    status: outcome.done?.status ?? null,
    error: presentError(outcome.error),
  })),
});
