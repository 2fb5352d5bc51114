import type { NodeIndex } from '../messages/nodes';
import { GatewayError } from '../platform/errors';
import type { SessionKind, SessionParams } from './session-params';

interface KindLimits {
  /** Concurrent sessions of one initiator on this node, which may be this node itself. */
  perInitiator: number;
  /** How long a peer waits for the initiator's first message. */
  beginMs: number;
  roundMs: number;
  lifeMs: number;
}

export type SessionLimits = Readonly<Record<SessionKind, KindLimits>>;

/**
 * A round of key generation takes seconds of CPU time, one of signing milliseconds. Limits are per initiator: with a common limit,
 * nodes that begin at the same moment could refuse each other indefinitely.
 */
export const sessionLimits: SessionLimits = {
  keygen: { perInitiator: 1, beginMs: 20_000, roundMs: 60_000, lifeMs: 170_000 },
  sign: { perInitiator: 64, beginMs: 5_000, roundMs: 5_000, lifeMs: 15_000 },
  test: { perInitiator: 64, beginMs: 5_000, roundMs: 5_000, lifeMs: 15_000 },
};

/** How many sessions of each kind run for each initiator. */
export class SessionSlots {
  private readonly taken = new Map<string, number>();

  constructor(
    private readonly self: NodeIndex,
    private readonly limits: SessionLimits,
  ) {}

  /** Returns what frees the slot again; call it once. @throws GatewayError signers_unavailable when none is free. */
  take({ kind, initiator }: SessionParams): () => void {
    const key = `${kind}/${initiator}`;
    const taken = this.taken.get(key) ?? 0;
    if (taken >= this.limits[kind].perInitiator)
      throw new GatewayError('signers_unavailable', `node ${this.self} is busy with ${kind} sessions of node ${initiator}`);
    this.taken.set(key, taken + 1);
    return () => this.taken.set(key, (this.taken.get(key) ?? 1) - 1);
  }
}
