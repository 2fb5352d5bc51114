/** What a session needs of a threshold protocol, whatever its curve. A second protocol implements the same shape. */

/** Written to the share store and into every session id: a share of one protocol is never used by another. */
export const protocols = ['ecdsa-secp256k1'] as const;
export type ProtocolName = (typeof protocols)[number];

export type Party = 1 | 2 | 3;
export const parties: readonly Party[] = [1, 2, 3];

export const isParty = (value: unknown): value is Party => value === 1 || value === 2 || value === 3;

export type RoundMessages = Map<Party, Uint8Array>;

/** One party's side of a running protocol: a message to every other party per round, until the result. */
export interface Rounds<R> {
  /** Rounds in which messages are exchanged. */
  readonly rounds: number;
  start(): Promise<RoundMessages>;
  /** Takes every other party's message of the round. */
  next(incoming: RoundMessages): Promise<{ messages: RoundMessages } | { result: R }>;
  /** Frees the state; safe to call at any time, and needed even after a result. */
  close(): Promise<void>;
}
