import type { DataSource } from 'typeorm';
import type { WebhookAttemptResult, WebhookLane } from '../../activities/types';
import type { SecretBox } from '../platform/secret-box';
import { endLane, type DueDelivery, nextDelivery, waitOf } from './deliveries';
import { payloadOf } from './events';
import type { Lanes } from './lanes';
import { attemptsMade } from './metrics';
import { recordAttempt } from './record';
import { signedHeaders } from './secrets';
import { send, type SendOptions } from './send';

export interface AttemptDependencies extends SendOptions {
  database: DataSource;
  box: SecretBox;
  lanes: Lanes;
  /** Seconds before each retry. */
  retrySchedule: readonly number[];
}

/** How long a lane waits whose endpoint is busy: doubled each time, spread, so that a thousand of them do not ask at once. */
const busyWaitMs = { first: 500, longest: 30_000 };

/**
 * One attempt for the oldest delivery of a lane that is due. State is in the rows: a run of this that dies at any point is
 * repeated, and at worst the receiver gets the same event, by the same id, once more.
 */
export async function deliverNext(
  deps: AttemptDependencies,
  { busyTimes, ...lane }: WebhookLane & { busyTimes: number },
): Promise<WebhookAttemptResult> {
  const { database } = deps;
  const due = await nextDelivery(database, lane);
  if (!due) return { outcome: 'idle', waitMs: null };
  if (!due.enabled) {
    await endLane(database, lane);
    return { outcome: 'disabled', waitMs: null };
  }
  if (due.waitMs > 0) return { outcome: 'idle', waitMs: due.waitMs };
  const sent = await deps.lanes.run(lane.webhookId, () => post(deps, due));
  if (!sent) {
    attemptsMade.inc({ outcome: 'busy' });
    return { outcome: 'busy', waitMs: busyWait(busyTimes) };
  }
  const outcome = await recordAttempt(database, { deliveryId: due.deliveryId, url: due.endpoint.url }, sent, deps.retrySchedule);
  attemptsMade.inc({ outcome });
  return { outcome, waitMs: await waitOf(database, lane) };
}

function post(deps: AttemptDependencies, due: DueDelivery) {
  const body = payloadOf(due);
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

const busyWait = (times: number): number =>
  Math.round(Math.min(busyWaitMs.first * 2 ** Math.min(times, 10), busyWaitMs.longest) * (0.5 + Math.random()));
