import { randomBytes, type KeyObject } from 'node:crypto';
import { GatewayError } from '../platform/errors';
import type { Logger } from '../platform/logging';
import { activeSessions, sessionOutcomes, sessionSeconds } from './metrics';
import { ProtocolError } from './protocol/errors';
import type { Party } from './protocols';
import { isRefusal } from './refusals';
import { Session } from './session';
import { decodeProposal, decodeRoster, type Proposal, type Roster, type SessionKind, type SessionParams } from './session-params';

/** A node's part in a session of some kind, prepared after it has judged the request. */
export interface SessionTask<R> {
  /** Runs once the session id is agreed. */
  run(session: Session): Promise<R>;
  /** Wipes secrets; called exactly once, whether it ran or not. */
  dispose(): void;
}

/** What sessions need of the transport. Every call is bounded in time and fails with a GatewayError. */
export interface PeerLink {
  /** Answers with the peer's 32 random bytes. */
  propose(to: Party, proposal: Proposal): Promise<Buffer>;
  roster(to: Party, handle: string, roster: Roster): Promise<void>;
  message(to: Party, handle: string, round: number, body: Uint8Array, signature: Buffer): Promise<void>;
  abort(to: Party, handle: string, reason: string): Promise<void>;
}

interface KindLimits {
  /** Sessions at once that one node may have initiated here, this one included. */
  perInitiator: number;
  /** Longest wait of a peer for the initiator's first message. */
  beginMs: number;
  roundMs: number;
  lifeMs: number;
}

/**
 * Key generation counts seconds of CPU a round; a signature milliseconds. Limits are per initiator: with a common limit,
 * nodes that begin at the same moment would refuse each other for ever.
 */
export const sessionLimits: Readonly<Record<SessionKind, KindLimits>> = {
  keygen: { perInitiator: 1, beginMs: 20_000, roundMs: 60_000, lifeMs: 170_000 },
  sign: { perInitiator: 64, beginMs: 5_000, roundMs: 5_000, lifeMs: 15_000 },
  test: { perInitiator: 64, beginMs: 5_000, roundMs: 5_000, lifeMs: 15_000 },
};

export interface SessionManagerOptions {
  self: Party;
  signingKey: KeyObject;
  publicKeyOf: (party: Party) => KeyObject;
  link: PeerLink;
  /** This node's own judgement of a peer's proposal. @throws GatewayError to stay away. */
  acceptProposal: (terms: SessionParams) => Promise<SessionTask<unknown>>;
  logger: Logger;
  limits?: Readonly<Record<SessionKind, KindLimits>>;
}

interface Running {
  session: Session;
  done: Promise<void>;
}

/** All sessions of a node: those it initiates and those it takes part in. */
export class SessionManager {
  private readonly running = new Map<string, Running>();
  private readonly slots = new Map<string, number>();
  private readonly limits: Readonly<Record<SessionKind, KindLimits>>;
  /** Randomness already known in sessions of three whose roster has not come yet. */
  private readonly awaited = new WeakMap<Session, Partial<Record<Party, Buffer>>>();
  private draining = false;

  constructor(private readonly options: SessionManagerOptions) {
    this.limits = options.limits ?? sessionLimits;
  }

  get active(): number {
    return this.running.size;
  }

  /**
   * Proposes a session to the other participants, agrees on its id and runs this node's part.
   * @throws GatewayError intent_mismatch or address_blacklisted when a peer refuses on the merits; signers_unavailable for everything that a new
   * session, perhaps with another peer, may cure.
   */
  async initiate<R>(terms: SessionParams, task: SessionTask<R>): Promise<R> {
    let free: (() => void) | undefined;
    try {
      free = this.takeSlot(terms);
      const randomness = randomBytes(32);
      const handle = randomness.toString('hex');
      const session = this.open(terms, handle);
      return await this.track(handle, session, async () => {
        await this.agree(session, handle, { terms, randomness });
        return task.run(session);
      });
    } finally {
      task.dispose();
      free?.();
    }
  }

  /** A peer proposes. Answers with this node's randomness once it has judged the request and stands ready. */
  async onProposal(from: Party, body: Buffer): Promise<Buffer> {
    const { self, acceptProposal: admit } = this.options;
    const { terms, randomness } = decodeProposal(body, from, self);
    const handle = randomness.toString('hex');
    if (this.running.has(handle)) throw new GatewayError('invalid_parameter', 'this session was proposed before');
    const free = this.takeSlot(terms);
    try {
      const task = await admit(terms);
      if (this.running.has(handle)) {
        task.dispose();
        throw new GatewayError('invalid_parameter', 'this session was proposed before');
      }
      const own = randomBytes(32);
      const session = this.open(terms, handle);
      // with two participants everyone's randomness is known now; with three the initiator hands it round
      if (terms.participants.length === 2)
        session.agree(
          new Map([
            [from, randomness],
            [self, own],
          ]),
        );
      else this.awaited.set(session, { [from]: randomness, [self]: own });
      void this.track(handle, session, async () => {
        await session.awaitBegin(this.limits[terms.kind].beginMs);
        await task.run(session);
      })
        .catch(() => undefined) // logged and told to the peers by track
        .finally(() => {
          task.dispose();
          free();
        });
      return own;
    } catch (error) {
      free();
      throw error;
    }
  }

  /** The initiator hands round everyone's randomness. */
  onRoster(from: Party, handle: string, body: Buffer): void {
    const { session } = this.find(handle);
    const known = this.awaited.get(session);
    if (from !== session.terms.initiator || !known)
      throw new GatewayError('invalid_parameter', 'no roster is expected from this node');
    const roster = decodeRoster(body);
    for (const [party, random] of Object.entries(known)) {
      if (!roster.get(Number(party) as Party)?.equals(random))
        throw new GatewayError('invalid_parameter', 'the roster names other randomness than was exchanged');
    }
    session.agree(roster);
    this.awaited.delete(session);
  }

  onMessage(from: Party, handle: string, round: number, body: Buffer, signature: Buffer): void {
    this.find(handle).session.receive(from, round, body, signature);
  }

  /** A participant gave up: so does this node. */
  onAbort(from: Party, handle: string, reason: string): void {
    const found = this.running.get(handle);
    if (found?.session.others.includes(from)) found.session.end(unavailable(`node ${from} aborted the session: ${reason}`));
  }

  /** Takes no new sessions and waits for those under way; what then remains is aborted. */
  async drain(graceMs: number): Promise<void> {
    this.draining = true;
    const all = Promise.allSettled([...this.running.values()].map(({ done }) => done));
    const timer = setTimeout(() => {
      for (const { session } of this.running.values()) session.end(unavailable('this node is stopping'));
    }, graceMs);
    await all;
    clearTimeout(timer);
  }

  private open(terms: SessionParams, handle: string): Session {
    const { self, signingKey, publicKeyOf, link } = this.options;
    const { roundMs, lifeMs } = this.limits[terms.kind];
    return new Session(terms, {
      self,
      signingKey,
      publicKeyOf,
      roundMs,
      lifeMs,
      send: (to, round, body, signature) => link.message(to, handle, round, body, signature),
    });
  }

  private async agree(session: Session, handle: string, proposal: Proposal): Promise<void> {
    const { link, self } = this.options;
    // every answer is waited for, so that an abort never reaches a peer before it has finished judging
    const answers = await Promise.allSettled(
      session.others.map(async (party) => [party, await link.propose(party, proposal)] as const),
    );
    const roster = new Map([[self, proposal.randomness]]);
    for (const answer of answers) {
      if (answer.status === 'rejected') throw answer.reason;
      roster.set(...answer.value);
    }
    session.agree(roster);
    if (session.others.length > 1) await Promise.all(session.others.map((party) => link.roster(party, handle, roster)));
  }

  /** Keeps the session in the table while `work` runs; a failure is logged, counted and told to every other participant. */
  private async track<R>(handle: string, session: Session, work: () => Promise<R>): Promise<R> {
    const { kind, initiator } = session.terms;
    const { logger, link, self } = this.options;
    const role = initiator === self ? 'initiator' : 'participant';
    const log = logger.child({ session: handle.slice(0, 16), kind, role, peers: session.others });
    const begun = process.hrtime.bigint();
    const outcome = work();
    this.running.set(handle, { session, done: outcome.then(ignore, ignore) });
    activeSessions.inc({ kind });
    try {
      const result = await outcome;
      sessionOutcomes.inc({ kind, role, outcome: 'done' });
      sessionSeconds.observe({ kind, role }, Number(process.hrtime.bigint() - begun) / 1e9);
      log.debug('session done');
      return result;
    } catch (error) {
      const failure = this.asGatewayError(error, log);
      sessionOutcomes.inc({ kind, role, outcome: failure.code });
      log.warn({ code: failure.code, reason: failure.message }, 'session failed');
      for (const party of session.others) void link.abort(party, handle, failure.code).catch(() => undefined);
      throw failure;
    } finally {
      session.end(unavailable('the session is over'));
      this.running.delete(handle);
      activeSessions.dec({ kind });
    }
  }

  private takeSlot({ kind, initiator }: SessionParams): () => void {
    if (this.draining) throw unavailable('this node is stopping');
    const key = `${kind}/${initiator}`;
    const held = this.slots.get(key) ?? 0;
    if (held >= this.limits[kind].perInitiator)
      throw unavailable(`node ${this.options.self} is busy with ${kind} sessions of node ${initiator}`);
    this.slots.set(key, held + 1);
    return () => this.slots.set(key, (this.slots.get(key) ?? 1) - 1);
  }

  /** Refusals keep their code; whatever else ends a session is cured, if at all, by a new one. */
  private asGatewayError(error: unknown, log: Logger): GatewayError {
    if (error instanceof GatewayError)
      return isRefusal(error.code) ? error : new GatewayError('signers_unavailable', error.message, { cause: error });
    if (error instanceof ProtocolError)
      return new GatewayError('signers_unavailable', `protocol ${error.code}: ${error.message}`, { cause: error });
    log.error({ err: error }, 'unexpected error in a session');
    return new GatewayError('signers_unavailable', `unexpected error in a session: see the log of node ${this.options.self}`, {
      cause: error,
    });
  }

  private find(handle: string): Running {
    const found = this.running.get(handle);
    if (!found) throw new GatewayError('not_found', 'no such session');
    return found;
  }
}

const ignore = (): void => undefined;
const unavailable = (message: string): GatewayError => new GatewayError('signers_unavailable', message);
