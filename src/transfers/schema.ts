import Joi from 'joi';
import {
  amountOut,
  documentedPattern,
  chainName,
  coins,
  type Coins,
  externalId,
  failureCode,
  id,
  matching,
  oneOf,
  text,
  view,
} from '../http/schemas';
import { mfaBody } from '../mfa/request';
import type { ErrorDescription } from '../http/errors';
import { type EstimateWarning, warningCodes } from './accept/estimate-warnings';

export interface CreateTransfer {
  from_address: string;
  to_address: string;
  chain: string;
  token_symbol: string;
  amount: string;
  external_id?: string;
  memo?: string | null;
  on_chain_memo?: boolean;
  allow_program_address?: boolean;
}

export const createTransfer = Joi.object<CreateTransfer, true>({
  from_address: Joi.string().max(255).required().description('Address of one of your accounts'),
  to_address: Joi.string().max(255).required().description('Must differ from from_address'),
  chain: chainName().required(),
  token_symbol: Joi.string().max(20).required().example('USDC'),
  amount: matching(/^\d+(\.\d+)?$/, 'must be a decimal number such as 1.5')
    .required()
    .example('1.5')
    .meta(documentedPattern(/^(0*[1-9]\d*(\.\d+)?|0+\.0*[1-9]\d*)$/))
    .description('Display units; greater than 0, with at most as many decimal places as the asset has'),
  external_id: externalId().description(
    'What you call the transfer: no other one of yours may have it (409 external_id_in_use). GET /transactions finds it by this',
  ),
  memo: text(100).allow(null, '').description('Stored with the transaction'),
  on_chain_memo: Joi.boolean()
    .strict()
    .description('Puts the memo into the transaction as well, where everybody can read it: on chains whose payments carry one'),
  allow_program_address: Joi.boolean()
    .strict()
    .description('Pays also to an address that belongs to a program and to no key, on chains that have such addresses'),
}).meta({ 'x-component': 'CreateTransferRequest' });

export const approveTransaction = mfaBody;

export interface TransferView {
  tx_id: string;
  status: string;
  message: string;
}

export const transferView = view<TransferView>('TransferAccepted', {
  tx_id: id(),
  status: Joi.string().example('PENDING'),
  message: Joi.string(),
});

export interface NeededBalance {
  token_symbol: string;
  available: string;
  needed: string | null;
}

export interface TransferEstimateView {
  would_be_accepted: boolean;
  refusal: ErrorDescription | null;
  needs_approval: boolean;
  chain: string;
  token_symbol: string;
  amount: string;
  fee_bound: Coins | null;
  balances: NeededBalance[];
  warnings: EstimateWarning[];
}

const neededBalance = view<NeededBalance>('NeededBalance', {
  token_symbol: Joi.string(),
  available: amountOut().description('What is available of it now, display units'),
  needed: amountOut().allow(null).description('What would be locked of it, display units; null where the fee bound is not known'),
});

const warning = view<EstimateWarning>('TransferWarning', {
  code: oneOf('TransferWarningCode', warningCodes),
  message: Joi.string(),
});

/** Members as of the problem document, which has them with some codes only. */
const refusal = Joi.object<ErrorDescription>({
  type: Joi.string().required(),
  title: Joi.string().required(),
  status: Joi.number().integer().required(),
  detail: Joi.string().required(),
  code: failureCode().required(),
  errors: Joi.array().items(Joi.object({ field: Joi.string().required(), message: Joi.string().required() })),
  reason: Joi.string().description('With wallet_not_active: generating, suspended or key_not_attested'),
  token_symbol: Joi.string().description('With insufficient_balance: the coin or token that is short'),
  available: amountOut().description('With insufficient_balance: what is available of it, display units'),
  needed: amountOut().description('With insufficient_balance: what the transfer takes of it with its fee bound, display units'),
})
  .meta({ 'x-component': 'TransferRefusal' })
  .allow(null)
  .description(
    'Why POST /transfer would refuse it: its problem document without `instance` and `request_id`; null when it would be accepted',
  );

export const transferEstimateView = view<TransferEstimateView>('TransferEstimate', {
  would_be_accepted: Joi.boolean().description('POST /transfer would accept it now'),
  refusal,
  needs_approval: Joi.boolean().description('It would be AWAITING_APPROVAL first: its destination is not on the whitelist'),
  chain: Joi.string(),
  token_symbol: Joi.string(),
  amount: amountOut(),
  fee_bound: coins()
    .allow(null)
    .description(
      'Network fee that would be locked beside the amount: the transfer costs at most this, unless fees rise before it is signed; null where it is not known, because the transfer would be refused',
    ),
  balances: Joi.array()
    .items(neededBalance)
    .description('Of the token, then of the coin that pays the fee where it is another one'),
  warnings: Joi.array().items(warning).description('What may happen to it after it was accepted; new codes may be added'),
});
