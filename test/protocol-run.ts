import type { NodeIndex } from '../src/messages/nodes';

export type Messages = Map<NodeIndex, Uint8Array>;
/** A party's part of a protocol run. */
export interface Session<Result> {
  readonly rounds: number;
  start(): Promise<Messages>;
  next(incoming: Messages): Promise<{ messages: Messages } | { result: Result }>;
  close(): Promise<void>;
}

/** Passes every message on until all parties have a result; gives those and the number of rounds it took. */
export async function run<Result>(
  sessions: Map<NodeIndex, Session<Result>>,
): Promise<{ results: Map<NodeIndex, Result>; rounds: number }> {
  let sent = new Map<NodeIndex, Messages>();
  for (const [party, session] of sessions) sent.set(party, await session.start());
  for (let rounds = 1; ; rounds += 1) {
    const results = new Map<NodeIndex, Result>();
    const answers = await Promise.all(
      Array.from(sessions, async ([party, session]) => {
        const incoming: Messages = new Map();
        for (const [from, messages] of sent) {
          const message = messages.get(party);
          if (message) incoming.set(from, message);
        }
        return [party, await session.next(incoming)] as const;
      }),
    );
    sent = new Map();
    for (const [party, answer] of answers) {
      if ('result' in answer) results.set(party, answer.result);
      else sent.set(party, answer.messages);
    }
    if (results.size === sessions.size) return { results, rounds };
  }
}
