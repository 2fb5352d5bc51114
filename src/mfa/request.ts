import Joi from 'joi';
import { getCaller, type GatewayContext } from '../http/context';
import { canonical } from '../http/idempotency';
import type { FailureCode } from '../platform/codes';
import type { MfaRequest } from './service';

/** Field of a body that a second factor authorises. Its absence is no error of form: see MFA_REQUIRED. */
export const mfaCode = (): Joi.StringSchema =>
  Joi.string()
    .pattern(/^\d{6}$/)
    .messages({ 'string.pattern.base': '{{#label}} must be a string of 6 digits' })
    .example('123456')
    .description('6-digit TOTP code of your second factor; required, each code is good for one request');

/** What a route that asks for a second factor can answer. */
export const mfaFailures: FailureCode[] = ['MFA_REQUIRED', 'MFA_NOT_ENABLED', 'MFA_INVALID', 'rate_limited', 'unavailable'];

/** The request to be authorised, from a validated body. The code itself is no part of the act. */
export function toMfaRequest(ctx: GatewayContext): MfaRequest {
  const { mfa_code: code, ...rest } = (ctx.state.body ?? {}) as { mfa_code?: string };
  return { caller: getCaller(ctx), code, act: `${ctx.method} ${ctx.path}\n${canonical(rest)}`, requestId: ctx.state.requestId };
}
