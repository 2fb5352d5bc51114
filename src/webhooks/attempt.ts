import type { DataSource } from 'typeorm';
import type { DeliveryStream, WebhookAttemptResult } from '../messages/webhooks';
import type { SecretBox } from '../platform/secret-box';
import { countPending, failPending, type DueDelivery, nextDelivery, defer, findWait } from './deliveries';
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

/**
 * Makes one attempt for the oldest due delivery of a stream. All state is in the database: a run that crashes is repeated, and in the
 * worst case the receiver gets the same event, with the same id, twice.
 */
export async function deliverNext(
  deps: AttemptDependencies,
  { busyTimes, ...stream }: DeliveryStream & { busyTimes: number },
): Promise<WebhookAttemptResult> {
  const { database, concurrency } = deps;
  const due = await nextDelivery(database, stream);
  if (!due) return { outcome: 'idle', waitMs: null };
  if (!due.enabled) {
    await failPending(database, stream);
    return { outcome: 'disabled', waitMs: null };
  }
  if (due.waitMs > 0) return { outcome: 'idle', waitMs: due.waitMs };
  const exclusive = (due.failingForSeconds ?? 0) > exclusiveAfterSeconds;
  const sent = await concurrency.run(stream.webhookId, () => post(deps, due), { exclusive });
  if (!sent) {
    deliveryAttempts.inc({ outcome: 'busy' });
    const pending = await countPending(database, stream.webhookId, maxCounted);
    const waitMs = busyWait(busyTimes, concurrency.estimateWaitMs(stream.webhookId, pending, { exclusive }));
    await defer(database, due.deliveryId, waitMs);
    return { outcome: 'busy', waitMs };
  }
  const outcome = await recordAttempt(database, { deliveryId: due.deliveryId, url: due.endpoint.url }, sent, deps.retrySchedule);
  deliveryAttempts.inc({ outcome });
  return { outcome, waitMs: await findWait(database, stream) };
}

async function post(deps: AttemptDependencies, due: DueDelivery) {
  const body = toPayload(due, await isAttested(deps.database, deps.attested, due.endpoint.clientId, due));
  return send(deps, {
    url: due.endpoint.url,
    body,
    headers: {
      'content-type': 'application/json',
      'user-agent': 'custody-gateway-webhooks/1',
      ...signedHeaders(deps.box, due.endpoint, { eventId: due.eventId, at: new Date(), body }),
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
