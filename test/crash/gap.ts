import type { AttemptKind } from '../../src/chains/types';

/** A place between two steps of a transfer, in which a process is killed, and the transfer of ETH that every round sends there. */
export interface Gap {
  /** At most eight transfers of a chain are between start and broadcast. */
  chain: 'ethereum' | 'base';
  sent: Phase;
  /** The phase in which it comes to its gap, if it first waits for something else. */
  enters?: Phase;
  /** Its recipient is not on the whitelist: it waits for an approval. */
  isUnlisted?: true;
  /** It is held before it begins to sign, until the round lets it go on. */
  beginsLater?: true;
  /** What happens to it meanwhile (meanwhile.ts). */
  meanwhile?: 'recipient is blacklisted' | 'recipient refuses' | 'sender has no coins';
  /** What holds it, or how one sees that it is there. */
  at: Breakpoint | 'journal entry of a node' | Seen;
  /** What differs from a transfer that is confirmed by its first attempt. */
  end?: Partial<End>;
}

/** Parts of a round, in their order. */
export type Phase =
  | 'round before'
  | 'blocks are made'
  /** `base` is paused, and no block is made on `ethereum`. */
  | 'chains stand still'
  | 'the others have signed'
  /** Held for a short time, since they are a client's requests and what follows them directly. */
  | 'last';

/** A statement about a row of the gateway's database. It waits for a lock that the test owns: holds.ts. */
export interface Breakpoint {
  /** What is read is held by row-level security, which is asked about every row. */
  on: 'insert' | 'update' | 'delete' | 'read';
  table: 'transactions' | 'transfer_attempts' | 'workflow_outbox' | 'security_factors' | 'orders' | 'refusals';
  /** SQL: of the row (`new`, `old`); of what is read, of the statement and the process that makes it. */
  when: string;
  /** Deferred: it waits within COMMIT, which goes through afterwards, although nobody is left to learn of it. */
  atCommit?: true;
  /** Of a client, who tries again after a second, and not as soon as it has timed out. */
  isRequest?: true;
}

/** Nothing is held: its rows look like this. */
export interface Seen {
  row: (row: SeenRow) => boolean;
  /** What the workflow says of itself while it asks a chain that is paused. */
  step?: string;
}

export interface SeenRow {
  status: string;
  /** Its first attempt. */
  signed: boolean;
  broadcast: boolean;
  included: boolean;
}

export interface End {
  status: 'CONFIRMED' | 'CANCELLED' | 'FAILED';
  timeline: readonly string[];
  attempts: readonly AttemptKind[];
}
