import type { DataSource } from 'typeorm';
import type { DeliveryStream, WebhookAttemptResult } from '../messages/webhooks';
import type { SecretBox } from '../platform/secret-box';
import { countPending, failPending, type DueDelivery, nextDelivery, defer, findWait } from './deliveries';
import { toPayload } from './events';
import type { EndpointConcurrency } from './endpoint-concurrency';
import { attemptsMade } from './metrics';
import { recordAttempt } from './record-attempt';
import { signedHeaders } from './secrets';
import { send, type SendOptions } from './http-client';

export interface AttemptDependencies extends SendOptions {
  database: DataSource;
  box: SecretBox;
  lanes: EndpointConcurrency;
  /** Seconds before each retry. */
  retrySchedule: readonly number[];
}

/**
 * How long a lane waits whose endpoint is busy: until those before it should have had their turn, spread, so that a thousand of
 * them neither ask at once nor all the time. The least wait doubles: a short burst at a quick receiver is over sooner than it is known.
 */
const busyWaitMs = { first: 500, least: 15_000, longest: 600_000 };
/** More than so many pending deliveries make no wait longer. */
const countedPending = 1_000;
/** An endpoint that has failed for so long gets one request at a time. */
const singleAfterSeconds = 60;

/**
 * One attempt for the oldest delivery of a lane that is due. State is in the rows: a run of this that dies at any point is
 * repeated, and at worst the receiver gets the same event, by the same id, once more.
 */
export async function deliverNext(
  deps: AttemptDependencies,
  { busyTimes, ...lane }: DeliveryStream & { busyTimes: number },
): Promise<WebhookAttemptResult> {
  const { database } = deps;
  const due = await nextDelivery(database, lane);
  if (!due) return { outcome: 'idle', waitMs: null };
  if (!due.enabled) {
    await failPending(database, lane);
    return { outcome: 'disabled', waitMs: null };
  }
  if (due.waitMs > 0) return { outcome: 'idle', waitMs: due.waitMs };
  const single = (due.failingForSeconds ?? 0) > singleAfterSeconds;
  const sent = await deps.lanes.run(lane.webhookId, () => post(deps, due), { single });
  if (!sent) {
    attemptsMade.inc({ outcome: 'busy' });
    const turnMs = deps.lanes.turnMs(lane.webhookId, await countPending(database, lane.webhookId, countedPending), { single });
    const waitMs = busyWait(busyTimes, turnMs);
    await defer(database, due.deliveryId, waitMs);
    return { outcome: 'busy', waitMs };
  }
  const outcome = await recordAttempt(database, { deliveryId: due.deliveryId, url: due.endpoint.url }, sent, deps.retrySchedule);
  attemptsMade.inc({ outcome });
  return { outcome, waitMs: await findWait(database, lane) };
}

function post(deps: AttemptDependencies, due: DueDelivery) {
  const body = toPayload(due);
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

/** @param turnMs when its turn should come */
export function busyWait(times: number, turnMs: number): number {
  const least = Math.min(busyWaitMs.first * 2 ** Math.min(times, 10), busyWaitMs.least);
  return Math.round(Math.min(Math.max(least, turnMs) * (1 + Math.random() / 2), busyWaitMs.longest * (1 - Math.random() / 4)));
}
