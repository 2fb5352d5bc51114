import { hasChildren } from '../chains/key-protocols';
import type { NodeIndex } from '../messages/nodes';
import { GatewayError } from '../platform/errors';
import { Semaphore } from '../platform/semaphore';
import type { SessionKind, SessionParams } from './session-params';

interface KindLimits {
  /** Concurrent sessions of one initiator on this node, which may be this node itself. */
  perInitiator: number;
  /** How long one more waits for its slot; less than a proposal waits for its answer. */
  waitMs: number;
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
 * nodes that begin at the same moment could refuse each other indefinitely.
 */
export const sessionLimits: SessionLimits = {
  // the peers end a moment after the initiator, which begins the next one at once
  keygen: { perInitiator: 1, waitMs: 1_000, beginMs: 20_000, roundMs: 60_000, lifeMs: 170_000 },
  quick_keygen: { perInitiator: 8, waitMs: 0, beginMs: 5_000, roundMs: 5_000, lifeMs: 15_000 },
  sign: { perInitiator: 64, waitMs: 0, beginMs: 5_000, roundMs: 5_000, lifeMs: 15_000 },
  test: { perInitiator: 64, waitMs: 0, beginMs: 5_000, roundMs: 5_000, lifeMs: 15_000 },
};

export const limitsOf = (limits: SessionLimits, params: Pick<SessionParams, 'kind' | 'protocol'>): KindLimits =>
  limits[nameOf(params)];

const nameOf = ({ kind, protocol }: Pick<SessionParams, 'kind' | 'protocol'>): LimitsName =>
  kind === 'keygen' && !hasChildren(protocol) ? 'quick_keygen' : kind;

/** Its computing takes seconds on an idle machine, and much longer on a busy one. */
export const isLong = (params: Pick<SessionParams, 'kind' | 'protocol'>): boolean => nameOf(params) === 'keygen';

/** How many sessions of each kind run for each initiator. */
export class SessionSlots {
  private readonly slots = new Map<string, Semaphore>();

  constructor(
    private readonly self: NodeIndex,
    private readonly limits: SessionLimits,
  ) {}

  /** Returns what frees the slot again; call it once. @throws GatewayError signers_unavailable when none is free. */
  async take({ kind, protocol, initiator }: SessionParams): Promise<() => void> {
    const { perInitiator: permits, waitMs: maxWaitMs } = limitsOf(this.limits, { kind, protocol });
    const name = `${nameOf({ kind, protocol })}/${initiator}`;
    const slots = this.slots.get(name) ?? new Semaphore({ permits, maxWaiting: maxWaitMs > 0 ? 1 : 0, maxWaitMs });
    this.slots.set(name, slots);
    if (!(await slots.acquire()))
      throw new GatewayError('signers_unavailable', `node ${this.self} is busy with ${kind} sessions of node ${initiator}`);
    return () => slots.release();
  }
}
