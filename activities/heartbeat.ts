import { Context } from '@temporalio/activity';

/** Well below the heartbeat time-outs of the workflows. */
const intervalMs = 2_000;

/**
 * Sends heartbeats at a fixed interval while `work` runs, independent of its progress: a single step can last several RPC time-outs,
 * but a crashed worker must be detected soon. `work` can send additional heartbeats, with details that the following ones repeat.
 */
export async function withHeartbeat<T>(work: (heartbeat: (details: object) => void) => Promise<T>): Promise<T> {
  const context = Context.current();
  let newest: object | undefined;
  const timer = setInterval(() => context.heartbeat(newest), intervalMs);
  try {
    return await work((details) => {
      newest = details;
      context.heartbeat(details);
    });
  } finally {
    clearInterval(timer);
  }
}
