import type { ParameterizedContext } from 'koa';
import type { EntityManager } from 'typeorm';
import { GatewayError } from '../platform/errors';
import type { Logger } from '../platform/logging';

/** The authenticated caller, from the access token. */
export interface Caller {
  clientId: string;
  userId: string;
  keyId: string;
}

/** A success of a creating request; its status is the route's. */
export interface CreatedAnswer {
  body: object;
  /** Path below the base path, for Location. */
  path?: string;
}

/** The id of the resource that a request creates, and what is known about earlier attempts of the same request. */
export interface IdempotencyContext {
  /** The same for all attempts with one Idempotency-Key; new for every request without a key. */
  resourceId: string;
  idempotencyKey: string | null;
  /**
   * Stores the answer of this request in the database transaction of its act: the success, or the refusal that the handler throws
   * afterwards. A crash then leaves either both or neither. It has no effect without a key; if the handler does not call it, the
   * answer is stored after the handler.
   * @throws GatewayError idempotency_in_progress when another run has taken over the key: the act must not be committed.
   */
  storeAnswer: (manager: EntityManager, answer: CreatedAnswer | GatewayError) => Promise<void>;
  /** Start of the first attempt if this one repeats an attempt that did not finish (crash, 5xx); else null. */
  firstAttemptAt: Date | null;
}

export interface GatewayState {
  requestId: string;
  traceId: string | null;
  log: Logger;
  caller?: Caller;
  idempotency?: IdempotencyContext;
  /** Validated input; read with `getBody` and `getQuery`. */
  body?: unknown;
  query?: unknown;
}

export type GatewayContext = ParameterizedContext<
  GatewayState,
  { params: Record<string, string>; _matchedRoute?: string | RegExp }
>;
export type Middleware = (ctx: GatewayContext, next: () => Promise<unknown>) => Promise<unknown>;

/** The authenticated caller. @throws GatewayError unauthorized when the route lacks the authentication middleware, so that nothing is returned without a client. */
export function getCaller(ctx: GatewayContext): Caller {
  if (!ctx.state.caller) throw new GatewayError('unauthorized', 'Authentication is required');
  return ctx.state.caller;
}

/** Result of the `idempotent` middleware. @throws Error in a route without this middleware. */
export function getIdempotencyContext(ctx: GatewayContext): IdempotencyContext {
  if (!ctx.state.idempotency) throw new Error(`route ${String(ctx._matchedRoute)} lacks the idempotent middleware`);
  return ctx.state.idempotency;
}
