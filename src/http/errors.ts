import { failureCodes, type FailureCode } from '../platform/codes';
import { isDatabaseDown } from '../platform/database';
import { type FieldError, GatewayError } from '../platform/errors';
import type { GatewayContext, Middleware } from './context';
import { isTemporalDown } from '../platform/temporal';

/** Why something is refused, with the members of its code. */
export interface ErrorDescription {
  type: string;
  title: string;
  status: number;
  detail: string;
  code: FailureCode;
  errors?: FieldError[];
  [extension: string]: unknown;
}

/** RFC 9457 problem document: the body of every error response. */
export interface Problem extends ErrorDescription {
  instance: string;
  request_id: string;
}

export const problemMediaType = 'application/problem+json';
export const problemType = (code: FailureCode): string => `urn:custody-gateway:problem:${code}`;

/** Maps anything that was thrown to an error that may be shown to a client; the cause is for the log. */
export function publicError(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  if (isDatabaseDown(error) || isTemporalDown(error)) {
    return new GatewayError('unavailable', 'A required service is unreachable', {
      cause: error,
      retryAfterSeconds: 5,
    });
  }
  if (error instanceof URIError)
    return new GatewayError('invalid_parameter', 'The path is not valid percent-encoded text', { cause: error });
  return new GatewayError('internal_error', 'An internal error occurred', { cause: error });
}

export function toProblem(error: GatewayError, ctx: Pick<GatewayContext, 'path' | 'state'>): Problem {
  return { ...describeError(error), instance: ctx.path, request_id: ctx.state.requestId };
}

/** A problem document without what is of its request. */
export const describeError = (error: GatewayError): ErrorDescription => ({
  type: problemType(error.code),
  title: failureCodes[error.code].title,
  status: error.status,
  detail: error.message,
  code: error.code,
  ...(error.fields && { errors: error.fields }),
  ...error.extra,
});

/** Sets the response to the problem document of an error. */
export function answerProblem(ctx: GatewayContext, error: GatewayError): void {
  ctx.status = error.status;
  ctx.body = JSON.stringify(toProblem(error, ctx));
  ctx.type = problemMediaType;
  ctx.remove('Location');
  if (error.status === 401)
    ctx.set(
      'WWW-Authenticate',
      error.code === 'unauthorized' && ctx.get('Authorization') ? 'Bearer error="invalid_token"' : 'Bearer',
    );
  const retryAfter = error.retryAfterSeconds ?? (error.status === 503 ? 5 : undefined);
  if (retryAfter !== undefined) ctx.set('Retry-After', String(retryAfter));
}

/** Outermost error handler: responds with the problem document and logs the cause of a 5xx. */
export const handleErrors: Middleware = async (ctx, next) => {
  try {
    await next();
  } catch (error) {
    const shown = publicError(error);
    // the cause of a 503 is another service, whose log has the details
    const level = shown.status === 500 ? 'error' : 'warn';
    if (shown.status >= 500) ctx.state.log[level]({ err: shown.cause ?? shown, code: shown.code }, shown.message);
    answerProblem(ctx, shown);
  }
};
