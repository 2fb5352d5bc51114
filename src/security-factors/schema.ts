import Joi from 'joi';
import { batchError, type BatchErrorView, maxBatchItems } from '../http/batch';
import { chainName, id, oneOf, type PageQuery, pageFields, reference, text, timestamp, view } from '../http/schemas';
import { mfaBody, mfaCode } from '../mfa/request';
import type { FactorStatus, FactorType } from './entity';

/** Entries per response. */
const maxPageSize = 1_000;

const factorType = (): Joi.StringSchema => oneOf('SecurityFactorType', ['WHITELIST', 'BLACKLIST']);
const status = (): Joi.StringSchema => oneOf('SecurityFactorStatus', ['active', 'inactive']);

export interface NewEntry {
  factor_type: FactorType;
  chain: string;
  address: string;
  label?: string | null;
  reason?: string | null;
}

export interface CreateFactor extends NewEntry {
  mfa_code?: string;
}

const entryFields = {
  factor_type: factorType().required().description('WHITELIST: trusted; BLACKLIST: transfers to it are refused'),
  chain: chainName().required(),
  address: Joi.string().max(255).required().description('Stored as sent; compared in canonical form'),
  label: text(100).allow(null, ''),
  reason: text(255).allow(null, ''),
};

export const createFactor = Joi.object<CreateFactor, true>({ ...entryFields, mfa_code: mfaCode() });

export interface ChangeFactors {
  remove: string[];
  add: NewEntry[];
  mfa_code?: string;
}

export const changeFactors = Joi.object<ChangeFactors, true>({
  remove: Joi.array()
    .items(reference())
    .max(maxBatchItems)
    .default([])
    .description('Ids of the entries to delete, before any is added'),
  add: Joi.array()
    .items(Joi.object<NewEntry, true>(entryFields).meta({ 'x-component': 'NewSecurityFactor' }))
    .max(maxBatchItems)
    .default([])
    .description('Entries to add'),
  mfa_code: mfaCode(),
});

export interface SetFactorStatus {
  status: FactorStatus;
  mfa_code?: string;
}

export const setFactorStatus = Joi.object<SetFactorStatus, true>({ status: status().required(), mfa_code: mfaCode() });

export const deleteFactor = mfaBody;

export interface ListFactors extends PageQuery {
  chain?: string;
  factor_type?: FactorType;
  status?: FactorStatus;
}

export const listFactors = Joi.object<ListFactors, true>({
  page: pageFields.page,
  page_size: Joi.number().integer().min(1).max(maxPageSize).default(maxPageSize).description('Items per page'),
  chain: chainName().description('Entries of this chain only'),
  factor_type: factorType().description('Entries of this type only'),
  status: status().description('Entries in this status only'),
});

export interface FactorView {
  factor_id: string;
  factor_type: FactorType;
  chain: string;
  address: string;
  label: string;
  status: FactorStatus;
  reason: string;
  added_by: string;
  created_at: string;
}

export const factorView = view<FactorView>('SecurityFactor', {
  factor_id: id(),
  factor_type: factorType(),
  chain: Joi.string(),
  address: Joi.string(),
  label: Joi.string().allow(''),
  status: status(),
  reason: Joi.string().allow(''),
  added_by: id().description('The user who added it'),
  created_at: timestamp(),
});

export interface FactorList {
  items: FactorView[];
  total: number;
}

export const factorList = view<FactorList>('SecurityFactorList', {
  items: Joi.array().items(factorView),
  total: Joi.number().integer().min(0).description('Total number of entries on all pages'),
});

export interface DeletedFactorView {
  factor_id: string;
  status: 'deleted';
}

export const deletedFactorView = view<DeletedFactorView>('DeletedSecurityFactor', {
  factor_id: id(),
  status: Joi.string().valid('deleted'),
});

export interface BatchView {
  removed: { factor_id: string; error: BatchErrorView | null }[];
  added: { factor: FactorView | null; error: BatchErrorView | null }[];
}

export const batchView = view<BatchView>('SecurityFactorChanges', {
  removed: Joi.array()
    .items(view<BatchView['removed'][number]>('RemovedSecurityFactor', { factor_id: Joi.string(), error: batchError() }))
    .description('One for each of `remove`, in their order'),
  added: Joi.array()
    .items(
      view<BatchView['added'][number]>('AddedSecurityFactor', {
        factor: factorView.allow(null).description('The entry, active; null where it was refused'),
        error: batchError(),
      }),
    )
    .description('One for each of `add`, in their order'),
});
