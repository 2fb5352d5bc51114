import type { DataSource } from 'typeorm';
import type { DeliveryStream, WebhookAttemptResult } from '../messages/webhooks';
import { belowStoredTrace } from '../outbox/request-traces';
import type { SecretBox } from '../platform/secret-box';
import { traced } from '../platform/tracing/tracing';
import { countPending, defer, failPending, findWait, type NextDelivery, takeNext } from './deliveries';
import { toPayload } from './events';
import type { EndpointConcurrency } from './endpoint-concurrency';
import { deliveryAttempts } from './metrics';
import { recordAttempt } from './record-attempt';
import { signedHeaders } from './secrets';
import { send, type SendOptions } from './http-client';
import { type Attested, isAttested } from './verified-event';

export interface AttemptDependencies extends SendOptions {
  database: DataSource;
  box: SecretBox;
  attested: Attested;
  concurrency: EndpointConcurrency;
  /** Seconds before each retry. */
  retrySchedule: readonly number[];
}

/**
 * Wait of a delivery stream whose endpoint is busy: the estimated time until the deliveries before it have been made, with jitter,
 * so that a thousand streams do not retry at the same moment or all the time. The minimum starts small and doubles, since a short
 * burst at a fast receiver ends before there is an estimate.
 */
const busyWaitMs = { initialMinimum: 500, minimum: 15_000, maximum: 600_000 };
/** Further pending deliveries do not make the wait longer. */
const maxCounted = 1_000;
/** An endpoint that has failed for this long gets one request at a time. */
const exclusiveAfterSeconds = 60;

/** What became of a stream's next delivery. */
interface NextAttempt {
  outcome: WebhookAttemptResult['outcome'];
  /** For `idle` and `busy`: milliseconds until it is due; null when nothing is pending. */
  waitMs: number | null;
  next: NextDelivery | null;
}

/** For a stream's workflow: makes one attempt for its next due delivery, whoever was to make it. */
export async function deliverNext(
  deps: AttemptDependencies,
  { busyTimes, ...stream }: DeliveryStream & { busyTimes: number },
): Promise<WebhookAttemptResult> {
  const { outcome, waitMs } = await attemptNext(deps, stream, { busyTimes });
  if (outcome === 'idle' || outcome === 'busy') return { outcome, waitMs };
  return { outcome, waitMs: await findWait(deps.database, stream) };
}

/**
 * Makes one attempt for the next delivery of a stream if it is due. All state is in the database: a run that crashes is repeated, and in
 * the worst case the receiver gets the same event, with the same id, twice.
 * @param firstOnly only if the delivery is a dispatcher's
 */
export async function attemptNext(
  deps: AttemptDependencies,
  stream: DeliveryStream,
  { busyTimes = 0, firstOnly = false },
): Promise<NextAttempt> {
  const next = await takeNext(deps.database, stream, { firstOnly });
  if (!next) return { outcome: 'idle', waitMs: null, next };
  if (!next.enabled) {
    await failPending(deps.database, stream);
    return { outcome: 'disabled', waitMs: null, next };
  }
  if (next.claim === null) return { outcome: 'idle', waitMs: next.waitMs, next };
  try {
    const made = await belowStoredTrace(deps.database, stream.subjectId, () => attempt(deps, next, busyTimes));
    return { ...made, next };
  } catch (error) {
    // otherwise nobody tries it before the end of the claim
    await defer(deps.database, next, 0).catch(() => undefined);
    throw error;
  }
}

/** The endpoint is a client's: its address is not in the span. */
function attempt(deps: AttemptDependencies, next: NextDelivery, busyTimes: number): Promise<Omit<NextAttempt, 'next'>> {
  return traced('webhook attempt', { kind: 'client', attributes: { 'http.request.method': 'POST' } }, async (span) => {
    const made = await attemptOnce(deps, next, busyTimes);
    span?.set({ 'http.response.status_code': made.statusCode, 'gateway.outcome': made.outcome });
    return { outcome: made.outcome, waitMs: made.waitMs };
  });
}

interface MadeAttempt extends Omit<NextAttempt, 'next'> {
  statusCode?: number | undefined;
}

async function attemptOnce(deps: AttemptDependencies, next: NextDelivery, busyTimes: number): Promise<MadeAttempt> {
  const { database, concurrency } = deps;
  const { webhookId, url } = next.endpoint;
  const exclusive = (next.failingForSeconds ?? 0) > exclusiveAfterSeconds;
  const sent = await concurrency.run(webhookId, () => post(deps, next), { exclusive });
  if (!sent) {
    deliveryAttempts.inc({ outcome: 'busy' });
    const pending = await countPending(database, webhookId, maxCounted);
    const waitMs = busyWait(busyTimes, concurrency.estimateWaitMs(webhookId, pending, { exclusive }));
    await defer(database, next, waitMs);
    return { outcome: 'busy', waitMs };
  }
  const outcome = await recordAttempt(database, { deliveryId: next.deliveryId, url }, sent, deps.retrySchedule);
  deliveryAttempts.inc({ outcome });
  return { outcome, waitMs: null, statusCode: sent.statusCode ?? undefined };
}

async function post(deps: AttemptDependencies, next: NextDelivery) {
  const body = toPayload(next, await isAttested(deps.database, deps.attested, next.endpoint.clientId, next));
  return send(deps, {
    url: next.endpoint.url,
    body,
    headers: {
      'content-type': 'application/json',
      'user-agent': 'custody-gateway-webhooks/1',
      ...signedHeaders(deps.box, next.endpoint, { eventId: next.eventId, at: new Date(), body }),
    },
  });
}

/**
 * @param times how often in a row the endpoint was busy before
 * @param estimateMs estimated time until the delivery's turn
 */
export function busyWait(times: number, estimateMs: number): number {
  const { initialMinimum, minimum, maximum } = busyWaitMs;
  const shortest = Math.min(initialMinimum * 2 ** Math.min(times, 10), minimum);
  return Math.round(Math.min(Math.max(shortest, estimateMs) * (1 + Math.random() / 2), maximum * (1 - Math.random() / 4)));
}
