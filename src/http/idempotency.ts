import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { FailureCode } from '../platform/codes';
import { GatewayError, invalidParameter } from '../platform/errors';
import { newId } from '../platform/ids';
import { type CreatedAnswer, getCaller, type GatewayContext, type IdempotencyContext } from './context';
import { answerProblem, problemMediaType, publicError, toProblem } from './errors';
import type { Claim, ClaimResult, StoredAnswer } from './idempotency-store';
import type { AnswerStore } from './sealed-idempotency';
import { type DocumentedMiddleware, documented } from './route';
import { basePath } from './router';

/**
 * Refusals before anything was begun: the same key is valid for the next try, also with another code. A key that belongs to another
 * transfer stays valid for that transfer.
 */
const asksForAnother: ReadonlySet<FailureCode> = new Set([
  'rate_limited',
  'MFA_NOT_ENABLED',
  'MFA_REQUIRED',
  'MFA_INVALID',
  'idempotency_in_progress',
  'idempotency_key_reused',
]);

/** How long a duplicate waits for the answer of the first. */
const waitMs = 10_000;
const pollMs = { first: 50, longest: 500 };

const header = {
  name: 'Idempotency-Key',
  description:
    'Makes the request safe to repeat: the same key and body get the first answer again (kept 24 hours; for transfers without a time limit).',
  required: false,
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[ -~]+$' },
};

/**
 * Idempotency-Key of requests that create something. Runs after authentication and validation, since an invalid request has begun
 * nothing. Sets `ctx.state.idempotency`: the handler creates under its resourceId, by which it finds the work of an earlier try; a
 * handler with a single database transaction stores its answer in it (`storeAnswer`). Answers below 500 are stored. A 5xx releases
 * the key, so that a retry runs again with the same id; a temporary refusal (too many requests, a wrong code) removes the claim.
 * @param toComparable the validated body, equal for requests that ask for the same
 */
export function createIdempotent(
  store: AnswerStore,
  toComparable = ({ state }: GatewayContext): unknown => state.body,
): DocumentedMiddleware {
  const docs = { headers: [header], fails: ['invalid_parameter', 'idempotency_in_progress', 'idempotency_key_reused'] as const };
  return documented({ ...docs, fails: [...docs.fails] }, async (ctx, next) => {
    const key = readKey(ctx);
    if (key === null) {
      const storeAnswer = () => Promise.resolve();
      ctx.state.idempotency = { resourceId: newId(), idempotencyKey: null, firstAttemptAt: null, storeAnswer };
      return next();
    }
    const result = await claimOrWait(store, getCaller(ctx).clientId, key, toFingerprint(ctx, toComparable(ctx)));
    if (result.outcome === 'answered') return replay(ctx, result.answer);
    return runClaimed(ctx, next, store, result.claim);
  });
}

function readKey(ctx: GatewayContext): string | null {
  const key = ctx.headers['idempotency-key'];
  if (key === undefined) return null;
  if (typeof key !== 'string' || !/^[ -~]{1,255}$/.test(key))
    throw invalidParameter('Idempotency-Key', 'must be 1 to 255 printable ASCII characters');
  return key;
}

async function claimOrWait(
  store: AnswerStore,
  clientId: string,
  key: string,
  fingerprint: Buffer,
): Promise<Extract<ClaimResult, { outcome: 'claimed' | 'answered' }>> {
  const deadline = Date.now() + waitMs;
  const freshId = newId();
  for (let pause = pollMs.first; ; pause = Math.min(pause * 1.5, pollMs.longest)) {
    const result = await store.claim(clientId, key, fingerprint, freshId);
    if (result.outcome === 'claimed' || result.outcome === 'answered') return result;
    if (result.outcome === 'reused')
      throw new GatewayError('idempotency_key_reused', 'This Idempotency-Key was used for another request');
    if (Date.now() + pause > deadline) {
      throw new GatewayError('idempotency_in_progress', 'The first request with this Idempotency-Key is still running', {
        retryAfterSeconds: 2,
      });
    }
    await delay(pause);
  }
}

async function runClaimed(ctx: GatewayContext, next: () => Promise<unknown>, store: AnswerStore, claim: Claim): Promise<void> {
  const { resourceId, key: idempotencyKey, firstAttemptAt } = claim;
  let stored = false;
  const storeAnswer: IdempotencyContext['storeAnswer'] = async (manager, answer) => {
    if (!(await store.finish(claim, toStoredAnswer(ctx, answer), manager)))
      throw new GatewayError('idempotency_in_progress', 'Another request with this Idempotency-Key is running');
    stored = true;
  };
  ctx.state.idempotency = { resourceId, idempotencyKey, firstAttemptAt, storeAnswer };
  try {
    await next();
  } catch (error) {
    const shown = publicError(error);
    if (shown.status >= 500) {
      // not waited for: a COMMIT whose answer was lost may still lock the row. If it fails, the lease expires by itself
      void store.release(claim).catch((err: unknown) => ctx.state.log.warn({ err }, 'idempotency key not released'));
      throw error;
    }
    // what says when to try again is no final answer
    if (asksForAnother.has(shown.code) || shown.retryAfterSeconds !== undefined) {
      await store.forget(claim).catch((err: unknown) => ctx.state.log.warn({ err }, 'idempotency claim not removed'));
      throw error;
    }
    answerProblem(ctx, shown);
  }
  // serialised here, so that the stored and the sent answer have the same bytes
  const body = typeof ctx.body === 'string' ? ctx.body : JSON.stringify(ctx.body);
  const status = ctx.status;
  ctx.body = body;
  ctx.type = contentType(status);
  if (stored) return;
  // the work is done and a retry finds it by its id, so the answer is sent even if it could not be stored
  await store
    .finish(claim, { status, headers: keptHeaders(ctx), body })
    .catch((err: unknown) => ctx.state.log.warn({ err }, 'answer not stored'));
}

/** The bytes and headers that the handler's answer will have. */
function toStoredAnswer(ctx: GatewayContext, answer: CreatedAnswer | GatewayError): StoredAnswer {
  if (answer instanceof GatewayError) return { status: answer.status, headers: {}, body: JSON.stringify(toProblem(answer, ctx)) };
  const headers: Record<string, string> = answer.path === undefined ? {} : { Location: `${basePath}${answer.path}` };
  return { status: ctx.status, headers, body: JSON.stringify(answer.body) };
}

const contentType = (status: number): string => (status >= 400 ? problemMediaType : 'application/json');

function keptHeaders(ctx: GatewayContext): Record<string, string> {
  const location = ctx.response.get('Location');
  return location ? { Location: location } : {};
}

function replay(ctx: GatewayContext, { status, headers, body }: StoredAnswer): void {
  ctx.status = status;
  ctx.body = body;
  ctx.type = contentType(status);
  ctx.set({ ...headers, 'Idempotency-Replayed': 'true' });
}

/** SHA-256 of method, path and body with sorted keys, so that the order of the fields does not matter. */
function toFingerprint({ method, path }: GatewayContext, body: unknown): Buffer {
  return createHash('sha256')
    .update(`${method} ${path}\n${canonical(body)}`)
    .digest();
}

/** JSON with sorted keys: equal values have equal texts. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  fields.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonical(field)}`).join(',')}}`;
}
