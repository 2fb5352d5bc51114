import Joi from 'joi';
import { chainName, externalId, id, text, view } from '../http/schemas';
import { mfaCode } from '../mfa/request';

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
  amount: Joi.string()
    .pattern(/^\d+(\.\d+)?$/)
    .messages({ 'string.pattern.base': '{{#label}} must be a decimal number such as 1.5' })
    .required()
    .example('1.5')
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
});

export interface ApproveTransaction {
  mfa_code?: string;
}

export const approveTransaction = Joi.object<ApproveTransaction, true>({ mfa_code: mfaCode() });

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
