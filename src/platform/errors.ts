import { failureCodes, type FailureCode } from './codes';

export interface FieldError {
  /** Path of the offending field, such as `amount` or `query.page`. */
  field: string;
  message: string;
}

/**
 * The only error type whose message may be shown to a client. Everything else that is thrown is an internal error, whose message is
 * not shown. HTTP mapping: src/http/errors.ts; Temporal mapping: activities/errors.ts.
 */
export class GatewayError extends Error {
  readonly code: FailureCode;
  readonly fields: FieldError[] | undefined;
  readonly retryAfterSeconds: number | undefined;
  /** Public members added to the problem document, such as `tx_id` with outcome_unknown. */
  readonly extra: Record<string, string> | undefined;

  constructor(
    code: FailureCode,
    message: string,
    options: { cause?: unknown; fields?: FieldError[]; retryAfterSeconds?: number; extra?: Record<string, string> } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'GatewayError';
    this.code = code;
    this.fields = options.fields;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.extra = options.extra;
  }

  get status(): number {
    return failureCodes[this.code].status;
  }

  get retryable(): boolean {
    return failureCodes[this.code].retryable;
  }
}

/** `invalid_parameter` with its field. */
export function invalidParameter(field: string, message: string): GatewayError {
  return new GatewayError('invalid_parameter', `${field}: ${message}`, { fields: [{ field, message }] });
}

/** `external_id_in_use` with its field. @param what has the name: a transfer, a wallet or an account */
export function externalIdInUse(what: string): GatewayError {
  return new GatewayError('external_id_in_use', `external_id: another ${what} of yours has it`, {
    fields: [{ field: 'external_id', message: `is used by another ${what}` }],
  });
}

/** For work that may be done twice: that its outcome is unknown means no more than that it is to be asked for again. @throws always. */
export function rethrowAsUnavailable(error: unknown): never {
  if (!(error instanceof GatewayError) || error.code !== 'outcome_unknown') throw error;
  throw new GatewayError('unavailable', 'The database is unreachable', { cause: error, retryAfterSeconds: 2 });
}

export function notFound(what: string): GatewayError {
  return new GatewayError('not_found', `${what} not found`);
}
