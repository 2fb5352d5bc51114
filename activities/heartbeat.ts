import { Context } from '@temporalio/activity';

/** Well below the heartbeat time-outs of the workflows. */
const intervalMs = 2_000;

/**
 * Sends heartbeats at a fixed interval while `work` runs, independent of its progress: a single step can last several RPC time-outs,
 * but a crashed worker must be detected soon. `work` can send additional heartbeats.
 */
export async function withHeartbeat<T>(work: (heartbeat: () => void) => Promise<T>): Promise<T> {
  const context = Context.current();
  const heartbeat = () => context.heartbeat();
  const timer = setInterval(heartbeat, intervalMs);
  try {
    return await work(heartbeat);
  } finally {
    clearInterval(timer);
  }
}
