import type { ProtocolRun } from './protocols';

/**
 * Waits for a permission before each message that depends on a share: every message but the first of a run. `permit` rejects to end the
 * run. Other sessions with the same peer may have failed since the message before.
 */
export function guardedRun<R>(run: ProtocolRun<R>, permit: () => Promise<void>): ProtocolRun<R> {
  return {
    rounds: run.rounds,
    start: () => run.start(),
    next: async (incoming) => {
      const step = await run.next(incoming);
      if ('messages' in step) await permit();
      return step;
    },
    close: () => run.close(),
  };
}
