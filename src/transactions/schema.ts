import Joi from 'joi';
import {
  amountOut,
  chainName,
  failureCode,
  id,
  oneOf,
  type PageQuery,
  pageFields,
  pageSchema,
  timestamp,
  view,
} from '../http/schemas';
import { transactionStatuses } from './entity';
import { shownTypes } from './types';

export interface ListTransactions extends PageQuery {
  wallet_id?: string;
  account_id?: string;
  chain?: string;
}

export const listTransactions = Joi.object<ListTransactions, true>({
  ...pageFields,
  wallet_id: Joi.string().description('Transactions of this wallet only'),
  account_id: Joi.string().description('Transactions of this account only'),
  chain: chainName().description('Transactions on this chain only'),
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
  created_at: string;
}

const listFields = {
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
  created_at: timestamp(),
};

const transactionView = view<TransactionView>('Transaction', listFields);
export const transactionPage = pageSchema(transactionView, 'TransactionPage');

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
  fee: { amount: string; symbol: string } | null;
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
  fee: Joi.object({ amount: amountOut().required(), symbol: Joi.string().required() })
    .allow(null)
    .description('Fee taken by the network; null until known'),
  failure: Joi.object({ code: failureCode().required(), message: Joi.string().required() }).allow(null),
  updated_at: timestamp(),
};

/** `data` of the events of transactions. */
export const eventTransactionView = view('EventTransaction', {
  ...listFields,
  ...sentFields,
  sequence: Joi.number().integer().min(0).description('Counts its changes: a later event has a higher one'),
});

export const transactionDetailView = view<TransactionDetailView>('TransactionDetail', {
  ...listFields,
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
