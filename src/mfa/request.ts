import Joi from 'joi';
import { getCaller, type GatewayContext } from '../http/context';
import { canonical } from '../http/idempotency';
import { matching } from '../http/schemas';
import type { FailureCode } from '../platform/codes';
import type { MfaRequest } from './service';

/** The TOTP code in a request body. Optional in the schema, since its absence has an error code of its own: MFA_REQUIRED. */
export const mfaCode = (): Joi.StringSchema =>
  matching(/^\d{6}$/, 'must be a string of 6 digits')
    .example('123456')
    .description('6-digit TOTP code of your second factor; required; each code is valid for one request');

/** A body that has the code alone. */
export const mfaBody = Joi.object<{ mfa_code?: string }, true>({ mfa_code: mfaCode() }).meta({ 'x-component': 'MfaCodeRequest' });

/** Failures of routes that require a second factor. */
export const mfaFailures: FailureCode[] = [
  'MFA_REQUIRED',
  'MFA_NOT_ENABLED',
  'MFA_INVALID',
  'rate_limited',
  'unavailable',
  'outcome_unknown',
];

/** The request to be authorised, from a validated body. The code itself is not part of `operation`. */
export function toMfaRequest(ctx: GatewayContext): MfaRequest {
  const { mfa_code: code, ...rest } = (ctx.state.body ?? {}) as { mfa_code?: string };
  return {
    caller: getCaller(ctx),
    code,
    operation: `${ctx.method} ${ctx.path}\n${canonical(rest)}`,
    requestId: ctx.state.requestId,
  };
}
