import Joi from 'joi';
import {
  amountOut,
  chainName,
  coins,
  type Coins,
  externalId,
  failureCode,
  id,
  matching,
  moment,
  oneOf,
  type Page,
  pageFields,
  type PageQuery,
  pageViewFields,
  timestamp,
  view,
} from '../http/schemas';
import { type TransactionStatus, transactionStatuses } from './entity';
import { shownTypes } from './types';

/** The totals that the database keeps are by wallet, account and chain: what is filtered by more is counted up to this number. */
export const countedAtMost = 1_000;

export interface ListTransactions extends PageQuery {
  wallet_id?: string;
  account_id?: string;
  chain?: string;
  status?: TransactionStatus[];
  tx_hash?: string;
  external_id?: string;
  retry_of?: string;
  from_address?: string;
  to_address?: string;
  created_after?: Date;
  created_before?: Date;
  after?: string;
}

const statusName = `(${transactionStatuses.join('|')})`;

/** Several names are read as a list in which each is once. */
const statuses = () =>
  matching(
    new RegExp(`^${statusName}(,${statusName}){0,${transactionStatuses.length - 1}}$`),
    `must be one or several of ${transactionStatuses.join(', ')}, with commas between them`,
  )
    .custom((value: string) => [...new Set(value.split(','))])
    .example('PENDING,NEEDS_ATTENTION');

const cursor = () => matching(/^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/, 'must be the next of an answer');

/** Of every list of transactions. */
export const listFilters = {
  ...pageFields,
  wallet_id: Joi.string().description('Transactions of this wallet only'),
  account_id: Joi.string().description('Transactions of this account only'),
  chain: chainName().description('Transactions on this chain only'),
  external_id: externalId().description('The transfer of yours that was given this external_id'),
  retry_of: Joi.string().description('What was made in place of this transfer'),
  from_address: Joi.string()
    .max(255)
    .description(
      'Transactions from this address only; addresses are compared as those of their chain are, some in any letter case',
    ),
  to_address: Joi.string().max(255).description('Transactions to this address only, compared in the same way'),
  created_after: moment().description('Transactions created at this time or later only (RFC 3339)'),
  created_before: moment().description('Transactions created before this time only (RFC 3339)'),
  after: cursor().description(
    'The `next` of the page before, with the same filters. In place of `page`: with a `page` above 1 it is refused (400)',
  ),
};

export const listTransactions = Joi.object<ListTransactions>({
  ...listFilters,
  status: statuses().description('Transactions in one of these states only: names with commas between them'),
  tx_hash: matching(/^[A-Za-z0-9]{1,128}$/, 'must be the hash of a transaction').description(
    'Transactions with this hash only, as `tx_hash` shows it',
  ),
});

export interface TransactionView {
  tx_id: string;
  wallet_id: string | null;
  client_id: string;
  chain: string;
  transaction_type: string;
  /** The gateway's own address is null where the signing nodes do not attest it. */
  from_address: string | null;
  to_address: string | null;
  token_symbol: string;
  amount: string;
  status: string;
  tx_hash: string | null;
  /** What the client calls it. */
  external_id: string | null;
  /** The transfer in whose place it was made. */
  retry_of: string | null;
  created_at: string;
}

/** Of a transaction in lists. */
export const transactionFields = {
  tx_id: id(),
  wallet_id: id().allow(null),
  client_id: id(),
  chain: Joi.string(),
  transaction_type: oneOf('TransactionType', shownTypes),
  from_address: Joi.string()
    .allow(null)
    .description('null: the sending account has another address than the signing nodes attest'),
  to_address: Joi.string()
    .allow(null)
    .description('null: the receiving account has another address than the signing nodes attest'),
  token_symbol: Joi.string(),
  amount: amountOut(),
  status: oneOf('TransactionStatus', transactionStatuses),
  tx_hash: Joi.string().allow(null),
  external_id: Joi.string().allow(null).description('As given with the transfer'),
  retry_of: id().allow(null).description('The transfer that it was made in place of'),
  created_at: timestamp(),
};

const transactionView = view<TransactionView>('Transaction', transactionFields);

/** What the pages of transactions have beyond those of other lists. */
export interface CursorPage {
  total_is_exact: boolean;
  next: string | null;
}

export interface TransactionPageView extends Page<TransactionView>, CursorPage {}

/** Of a page of such a list. */
export const transactionPageFields = <T extends object>(item: Joi.ObjectSchema<T>) => ({
  ...pageViewFields(item),
  total: Joi.number()
    .integer()
    .min(0)
    .description(`Total number of items; with other filters than wallet_id, account_id and chain counted up to ${countedAtMost}`),
  total_is_exact: Joi.boolean().description('False when there are more items than `total` says'),
  next: Joi.string().allow(null).description('Cursor of the page after this one, for `after`; null: this is the last one'),
});

export const transactionPage = view<TransactionPageView>('TransactionPage', transactionPageFields(transactionView));

export interface TimelineView {
  status: string;
  at: string;
}

export interface LiveView {
  step: string;
  attempt: number;
  detail: string;
}

export interface TransactionDetailView extends TransactionView {
  memo: string | null;
  asset_id: string | null;
  account_id: string | null;
  fee: Coins | null;
  confirmations: number;
  required_confirmations: number;
  block_number: number | null;
  failure: { code: string; message: string } | null;
  approval: { expires_at: string; approved_by: string | null; approved_at: string | null } | null;
  screening: { code: string; message: string } | null;
  timeline: TimelineView[];
  updated_at: string;
  live: LiveView | null;
}

/** Beside those of lists, in details and in events. */
const sentFields = {
  memo: Joi.string().allow(null),
  fee: coins().allow(null).description('Fee taken by the network; null until known'),
  failure: Joi.object({ code: failureCode().required(), message: Joi.string().required() }).allow(null),
  updated_at: timestamp(),
};

/** `data` of the events of transactions. */
export const eventTransactionView = view('EventTransaction', {
  ...transactionFields,
  ...sentFields,
  sequence: Joi.number().integer().min(0).description('Counts its changes: a later event has a higher one'),
});

export const transactionDetailView = view<TransactionDetailView>('TransactionDetail', {
  ...transactionFields,
  asset_id: id().allow(null),
  account_id: id().allow(null),
  ...sentFields,
  confirmations: Joi.number().integer().min(0).description('Depth of its block (1 for the newest); 0 before inclusion'),
  required_confirmations: Joi.number().integer().min(1),
  block_number: Joi.number().integer().allow(null),
  approval: Joi.object({
    expires_at: timestamp().required(),
    approved_by: id().allow(null).required().description('The user who approved it'),
    approved_at: timestamp().allow(null).required(),
  })
    .allow(null)
    .description('Set if the transfer needed an approval'),
  screening: Joi.object({ code: Joi.string().required(), message: Joi.string().required() })
    .allow(null)
    .description('Set when the destination was blacklisted after signing had begun: the consequence for the transfer'),
  timeline: Joi.array()
    .items(view<TimelineView>('TimelineEntry', { status: oneOf('TransactionStatus', transactionStatuses), at: timestamp() }))
    .description('Its states, oldest first'),
  live: Joi.object({ step: Joi.string().required(), attempt: Joi.number().integer().required(), detail: Joi.string().required() })
    .allow(null)
    .description('Current step of the transfer; null once it has ended, or when it is not available'),
});
