import type { DeliveryStream } from '../messages/webhooks';
import { type AttemptDependencies, attemptNext } from './attempt';

/**
 * What a dispatcher does with the deliveries of a stream. `done`: they have ended. `later`: somebody else makes an attempt of the stream,
 * or the process stops. `workflow`: one has to wait, for a retry, for its turn behind one, or for a busy endpoint.
 */
export type FirstAttempts = (
  stream: DeliveryStream,
  deliveryIds: readonly string[],
  stop?: AbortSignal,
) => Promise<'done' | 'later' | 'workflow'>;

/** Makes the first attempts of deliveries of a stream, in its order, up to the first that does not succeed. None is begun after `stop`. */
export const firstAttempts =
  (deps: AttemptDependencies): FirstAttempts =>
  async (stream, deliveryIds, stop) => {
    const open = new Set(deliveryIds);
    for (let count = 0; count < deliveryIds.length && open.size > 0; count += 1) {
      if (stop?.aborted) return 'later';
      const { outcome, next } = await attemptNext(deps, stream, { firstOnly: true });
      if (next === null || outcome === 'disabled') return 'done';
      if (outcome !== 'delivered') return outcome === 'idle' && next.isFirst ? 'later' : 'workflow';
      open.delete(next.deliveryId);
    }
    return open.size === 0 ? 'done' : 'later';
  };
