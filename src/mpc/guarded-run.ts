import type { ProtocolRun } from './protocols';

export interface RunPermits {
  /** For the first message. */
  begun: Promise<void>;
  /** For each message that depends on a share: every one but the first of a run. */
  permit: () => Promise<void>;
}

/**
 * Lets no message out before its permission; a rejected one ends the run. Other sessions with the same peer may have failed since the
 * message before. The first message is computed meanwhile.
 */
export function guardedRun<R>(run: ProtocolRun<R>, { begun, permit }: RunPermits): ProtocolRun<R> {
  return {
    rounds: run.rounds,
    start: async () => {
      const messages = await run.start();
      await begun;
      return messages;
    },
    next: async (incoming) => {
      const step = await run.next(incoming);
      if ('messages' in step) await permit();
      return step;
    },
    close: () => run.close(),
  };
}
