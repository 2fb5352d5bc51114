import type { components } from './generated';

/** RFC 9457 problem document of the gateway. */
export type Problem = components['schemas']['Problem'];

/** Why a request was refused; the gateway may add codes. `unexpected_answer`: the answer is none of the gateway's, as of a proxy before it. */
export type ProblemCode = components['schemas']['FailureCode'] | 'unexpected_answer' | (string & {});

/** What all errors of this package are. No message and no field of one has a secret, a token or what was sent. */
export class ClientError extends Error {
  override get name(): string {
    return this.constructor.name;
  }
}

/** The gateway has refused a request, or could not carry it out, also after all repeats that are allowed. */
export class ProblemError extends ClientError {
  readonly code: ProblemCode;
  /** `request_id` of the answer, else its X-Request-Id: for a report to the gateway's operator. */
  readonly requestId: string | null;

  /**
   * @param status of HTTP
   * @param request method and path, without the query
   * @param problem the answer's body, null unless it is a problem document
   * @param headers of the answer
   * @param attempts how many there were; what is sent once more with a new token after a 401 belongs to the same one
   */
  constructor(
    readonly status: number,
    request: string,
    readonly problem: Problem | null,
    headers: Headers,
    readonly attempts: number,
  ) {
    const code = problem?.code ?? 'unexpected_answer';
    super(`${request} was answered with ${status} ${code}${problem ? `: ${problem.detail}` : ''}`);
    this.code = code;
    this.requestId = problem?.request_id ?? headers.get('x-request-id');
    this.retryAfterMs = retryAfterMs(headers);
  }

  /** How long the gateway asks to wait, null where it does not say. */
  readonly retryAfterMs: number | null;

  /** The refused fields with a sentence each; empty where the problem is not about fields. */
  get fields(): readonly { field: string; message: string }[] {
    return this.problem?.errors ?? [];
  }

  /** Such as `amount`: the first of the refused fields. */
  get field(): string | null {
    return this.fields[0]?.field ?? null;
  }
}

/**
 * No answer came: the gateway may have carried out the request or not. Send the same request with the same Idempotency-Key again.
 * `cause` has what the network said.
 */
export class NoAnswerError extends ClientError {
  constructor(
    request: string,
    readonly attempts: number,
    cause: unknown,
  ) {
    super(`${request} got no answer in ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`, { cause });
  }
}

/** What was waited for has not come in time. */
export class WaitTimeoutError extends ClientError {}

/** A received webhook is not of the gateway, too old or too new, or was changed on its way: do not use it. */
export class WebhookSignatureError extends ClientError {}

/** RFC 9110, section 10.2.3: seconds or a date. Null without the header, or with one that is neither. */
export function retryAfterMs(headers: Headers, nowMs = Date.now()): number | null {
  const value = headers.get('retry-after')?.trim() ?? '';
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1_000;
  // Date.parse would also take other numbers
  const date = /[a-z]/i.test(value) ? Date.parse(value) : NaN;
  return Number.isNaN(date) ? null : Math.max(0, date - nowMs);
}
