import { keyProtocols } from '../chains/key-protocols';
import type { KeyProtocol } from '../chains/types';
import type { NodeIndex } from '../messages/nodes';

/** What a session requires of a threshold protocol, independent of its curve. */

/** Stored with every share and hashed into every session id: a share of one protocol is never used by another. */
export const protocols = Object.keys(keyProtocols) as readonly KeyProtocol[];

export const isNodeIndex = (value: unknown): value is NodeIndex => value === 1 || value === 2 || value === 3;

/** Messages of one round, by sender or by recipient. */
export type RoundMessages = Map<NodeIndex, Uint8Array>;

/**
 * One party's side of a protocol run: in each round a message to every other party, until there is a result. It is used once and
 * exists in memory only. Any error ends it and frees its state, and so does the result; an unfinished run must be closed.
 */
export interface ProtocolRun<R> {
  /** Number of rounds in which messages are exchanged; fixed. */
  readonly rounds: number;
  /** The messages of the first round, by recipient: one for every other party. */
  start(): Promise<RoundMessages>;
  /** Takes one message of every other party of the current round, by sender. Returns the messages of the next round, or the result. */
  next(incoming: RoundMessages): Promise<{ messages: RoundMessages } | { result: R }>;
  /** Wipes and frees the state. Safe to call at any time and repeatedly. */
  close(): Promise<void>;
}
