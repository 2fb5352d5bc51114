import type { ParameterizedContext } from 'koa';
import type { EntityManager } from 'typeorm';
import { GatewayError } from '../platform/errors';
import type { Logger } from '../platform/logging';

/** Who asks, as the access token says. */
export interface Caller {
  clientId: string;
  userId: string;
  keyId: string;
}

/** A success of a creating request; its status is the route's. */
export interface CreatedAnswer {
  body: object;
  /** Path below the base path, for Location. */
  path: string;
}

/** The id a creating request creates under, and what is known of earlier tries of the same request. */
export interface IdempotencyContext {
  /** Fixed by the first try of an Idempotency-Key; fresh without one. */
  resourceId: string;
  idempotencyKey: string | null;
  /**
   * Stores what this request will answer in the database transaction of its act: the success, or the refusal the handler throws
   * afterwards. Then a crash can leave neither without the other. Without a key it does nothing; a handler that does not call it
   * has its answer stored after it.
   * @throws GatewayError idempotency_in_progress when another run has taken the key over: the act must not be committed.
   */
  storeAnswer: (manager: EntityManager, answer: CreatedAnswer | GatewayError) => Promise<void>;
  /** Begin of the first try when this run resumes one that did not finish (crash, 5xx); else null. */
  firstAttemptAt: Date | null;
}

export interface GatewayState {
  requestId: string;
  traceId: string | null;
  log: Logger;
  caller?: Caller;
  idempotency?: IdempotencyContext;
  /** Validated input; read with `bodyOf` and `queryOf`. */
  body?: unknown;
  query?: unknown;
}

export type GatewayContext = ParameterizedContext<
  GatewayState,
  { params: Record<string, string>; _matchedRoute?: string | RegExp }
>;
export type Middleware = (ctx: GatewayContext, next: () => Promise<unknown>) => Promise<unknown>;

/** The authenticated caller. @throws GatewayError unauthorized when a route forgot to authenticate: never answer unscoped. */
export function getCaller(ctx: GatewayContext): Caller {
  if (!ctx.state.caller) throw new GatewayError('unauthorized', 'Authentication is required');
  return ctx.state.caller;
}

/** What the `idempotent` step decided. @throws Error in a route that lacks the step. */
export function getIdempotencyContext(ctx: GatewayContext): IdempotencyContext {
  if (!ctx.state.idempotency) throw new Error(`route ${String(ctx._matchedRoute)} creates without the idempotent step`);
  return ctx.state.idempotency;
}
