import Joi from 'joi';
import { batchError, type BatchErrorView, maxBatchItems } from '../http/batch';
import { id, oneOf, type Page, type PageQuery, reference, timestamp, view } from '../http/schemas';
import { mfaCode } from '../mfa/request';
import { transactionStatuses } from '../transactions/entity';
import {
  type CursorPage,
  listFilters,
  type ListTransactions,
  transactionFields,
  transactionPageFields,
  type TransactionView,
} from '../transactions/schema';
import { type DecisionKind, decisions } from './screen/decide';

export type ListApprovals = PageQuery & Omit<ListTransactions, 'status' | 'tx_hash'>;

export const listApprovals = Joi.object<ListApprovals>(listFilters);

export interface PendingApprovalView extends TransactionView {
  expires_at: string | null;
  requested_by: string | null;
}

const pendingApproval = view<PendingApprovalView>('PendingApproval', {
  ...transactionFields,
  expires_at: timestamp().allow(null).description('Until when it waits; it is REJECTED then'),
  requested_by: id()
    .allow(null)
    .description(
      "The user who requested it, who may not approve it where another user could, unless the client's policy allows it. null: not known after a restore",
    ),
});

export interface ApprovalPageView extends Page<PendingApprovalView>, CursorPage {}

export const approvalPage = view<ApprovalPageView>('PendingApprovalPage', transactionPageFields(pendingApproval));

export interface DecideApprovals {
  decisions: { tx_id: string; decision: DecisionKind }[];
  mfa_code?: string;
}

const decisionKind = () => oneOf('ApprovalDecisionKind', decisions);

export const decideApprovals = Joi.object<DecideApprovals, true>({
  decisions: Joi.array()
    .items(
      Joi.object({ tx_id: reference().required(), decision: decisionKind().required() }).meta({
        'x-component': 'ApprovalDecision',
      }),
    )
    .min(1)
    .max(maxBatchItems)
    .unique('tx_id')
    .messages({ 'array.unique': '{{#label}} is about the same transfer as another one' })
    .required()
    .description('About each transfer at most one'),
  mfa_code: mfaCode(),
});

export interface DecisionsView {
  results: { tx_id: string; decision: DecisionKind; status: string | null; error: BatchErrorView | null }[];
}

export const decisionsView = view<DecisionsView>('ApprovalDecisionResults', {
  results: Joi.array()
    .items(
      view<DecisionsView['results'][number]>('ApprovalDecisionResult', {
        tx_id: Joi.string(),
        decision: decisionKind(),
        status: oneOf('TransactionStatus', transactionStatuses)
          .allow(null)
          .description('Of the transfer; null where it was refused'),
        error: batchError(),
      }),
    )
    .description('One for each decision, in their order'),
});
