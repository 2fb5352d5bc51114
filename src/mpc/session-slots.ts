import { hasChildren } from '../chains/key-protocols';
import type { NodeIndex } from '../messages/nodes';
import { GatewayError } from '../platform/errors';
import { Semaphore } from '../platform/semaphore';
import type { SessionKind, SessionParams } from './session-params';

interface KindLimits {
  /** Concurrent sessions of one initiator on this node, which may be this node itself; null: one of all initiators together. */
  perInitiator: number | null;
  /** How long a peer waits for the initiator's first message. */
  beginMs: number;
  roundMs: number;
  lifeMs: number;
}

/** A generation by a protocol whose keys have no children takes milliseconds, and a request waits for it. */
type LimitsName = SessionKind | 'quick_keygen';
export type SessionLimits = Readonly<Record<LimitsName, KindLimits>>;

/**
 * A round of key generation takes seconds of CPU time, one of signing milliseconds. Limits are per initiator: with a common limit,
 * nodes that begin at the same moment could refuse each other indefinitely. A node takes part in one key generation at a time, and so that
 * one of several initiators goes on, they ask for these places in the same order (SessionManager).
 */
export const sessionLimits: SessionLimits = {
  keygen: { perInitiator: null, beginMs: 20_000, roundMs: 60_000, lifeMs: 170_000 },
  quick_keygen: { perInitiator: 8, beginMs: 5_000, roundMs: 5_000, lifeMs: 15_000 },
  sign: { perInitiator: 64, beginMs: 5_000, roundMs: 5_000, lifeMs: 15_000 },
  test: { perInitiator: 64, beginMs: 5_000, roundMs: 5_000, lifeMs: 15_000 },
};

export const limitsOf = (limits: SessionLimits, params: Pick<SessionParams, 'kind' | 'protocol'>): KindLimits =>
  limits[nameOf(params)];

const nameOf = ({ kind, protocol }: Pick<SessionParams, 'kind' | 'protocol'>): LimitsName =>
  kind === 'keygen' && !hasChildren(protocol) ? 'quick_keygen' : kind;

/** The participants have one place each for sessions of this kind. */
export const isOneAtATime = ({ kind, protocol }: Pick<SessionParams, 'kind' | 'protocol'>): boolean =>
  nameOf({ kind, protocol }) === 'keygen';

/** The session before may not have ended at every node; less than a proposal waits for its answer. */
const shortWaitMs = 1_000;

/** How many sessions of each kind run for each initiator. */
export class SessionSlots {
  private readonly taken = new Map<string, number>();
  private readonly single = new Semaphore({ permits: 1, maxWaiting: 4, maxWaitMs: shortWaitMs });

  constructor(
    private readonly self: NodeIndex,
    private readonly limits: SessionLimits,
  ) {}

  /** Returns what frees the slot again; call it once. @throws GatewayError signers_unavailable when none is free. */
  async take({ kind, protocol, initiator }: SessionParams): Promise<() => void> {
    const { perInitiator } = limitsOf(this.limits, { kind, protocol });
    if (perInitiator === null) {
      if (!(await this.single.acquire())) throw this.busy(kind);
      return () => this.single.release();
    }
    const key = `${nameOf({ kind, protocol })}/${initiator}`;
    const taken = this.taken.get(key) ?? 0;
    if (taken >= perInitiator) throw this.busy(kind, ` of node ${initiator}`);
    this.taken.set(key, taken + 1);
    return () => this.taken.set(key, (this.taken.get(key) ?? 1) - 1);
  }

  private busy(kind: SessionKind, whose = ''): GatewayError {
    return new GatewayError('signers_unavailable', `node ${this.self} is busy with ${kind} sessions${whose}`);
  }
}
