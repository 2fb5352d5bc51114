import Joi from 'joi';
import type { FieldError, GatewayError } from '../platform/errors';
import { failureCode, view } from './schemas';

/** Items of one request. */
export const maxBatchItems = 100;

/** What became of an item of a batch: exactly one of the two. */
export type ItemOutcome<T> = { done: T; error: null } | { done: null; error: GatewayError };

export interface BatchErrorView {
  status: number;
  code: string;
  detail: string;
  errors: FieldError[];
}

/** Why an item was refused, as the problem document of the route for a single one says it. */
const batchErrorView = view<BatchErrorView>('BatchError', {
  status: Joi.number().integer().min(400).max(599).description('Status that the route for a single item answers with'),
  code: failureCode(),
  detail: Joi.string(),
  errors: Joi.array()
    .items(view<FieldError>('FieldError', { field: Joi.string(), message: Joi.string() }))
    .description('Offending fields of the item'),
});

/** `error` of an item. */
export const batchError = () => batchErrorView.allow(null).description('null: the item was carried out');

export const presentError = (error: GatewayError | null): BatchErrorView | null =>
  error && { status: error.status, code: error.code, detail: error.message, errors: error.fields ?? [] };
