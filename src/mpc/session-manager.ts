import { randomBytes, type KeyObject } from 'node:crypto';
import type { Hex } from '../chains/types';
import { GatewayError } from '../platform/errors';
import type { Logger } from '../platform/logging';
import type { NodeIndex } from '../messages/nodes';
import type { IdleClock } from './idle-clock';
import type { PeerLink } from './peer-link';
import { RunningSessions } from './running-sessions';
import { Session } from './session';
import { unavailable } from './session-failure';
import { decodeProposal, decodeRoster, type Proposal, type ProposalAnswer, type SessionParams } from './session-params';
import { limitsOf, type SessionLimits, sessionLimits, SessionSlots } from './session-slots';
import type { Recorded, SessionTask } from './session-task';
import { StallClock } from './stall-clock';
import type { SignedStatement } from './statement';

export interface SessionManagerOptions {
  self: NodeIndex;
  signingKey: KeyObject;
  getPublicKey: (party: NodeIndex) => KeyObject;
  link: PeerLink;
  /** Verifies a peer's proposal. @throws GatewayError when this node refuses to take part. */
  acceptProposal: (params: SessionParams, statement?: SignedStatement) => Promise<SessionTask<unknown> | Recorded>;
  clock: IdleClock;
  logger: Logger;
  limits?: SessionLimits;
}

const maxAbortedEarly = 64;

/** All sessions of a node: those it initiates and those it takes part in. */
export class SessionManager {
  private readonly running: RunningSessions;
  private readonly slots: SessionSlots;
  private readonly limits: SessionLimits;
  /** Randomness already known in sessions of three nodes that have not received the roster yet. */
  private readonly pendingRosters = new WeakMap<Session, Partial<Record<NodeIndex, Buffer>>>();
  /** Handles that were aborted before this node had their sessions: their proposal is being verified, or late. */
  private readonly abortedEarly = new Set<string>();
  private readonly stalls = new StallClock();
  private draining = false;

  constructor(private readonly options: SessionManagerOptions) {
    this.limits = options.limits ?? sessionLimits;
    this.running = new RunningSessions(options);
    this.slots = new SessionSlots(options.self, this.limits);
  }

  get active(): number {
    return this.running.count;
  }

  /**
   * Proposes a session to the other participants, agrees with them on its id and runs this node's part.
   * @throws GatewayError with the code of a peer that refuses (src/mpc/refusal-codes.ts); signers_unavailable for every failure after
   * which a new session, perhaps with another peer, can succeed.
   */
  async initiate<R>(params: SessionParams, task: SessionTask<R>): Promise<R> {
    let free: (() => void) | undefined;
    try {
      free = await this.takeSlot(params);
      const randomness = randomBytes(32);
      const handle = randomness.toString('hex');
      const session = this.open(params, handle);
      return await this.running.run(handle, session, task.keyId, async () => {
        const proposal = { params, randomness, ...(task.statement && { statement: task.statement }) };
        const recorded = await this.agree(session, handle, proposal, task);
        return recorded === undefined ? task.run(session) : this.adopt(task, recorded);
      });
    } finally {
      task.dispose();
      free?.();
    }
  }

  /** A proposal of a peer. Answers once this node has verified the request and is ready to take part. */
  async onProposal(from: NodeIndex, body: Buffer): Promise<ProposalAnswer> {
    const { self, acceptProposal } = this.options;
    const { params, randomness, statement } = decodeProposal(body, from, self);
    const handle = randomness.toString('hex');
    if (this.running.has(handle)) throw alreadyProposed();
    const free = await this.takeSlot(params);
    try {
      const task = await acceptProposal(params, statement);
      if ('recorded' in task) {
        free();
        return task;
      }
      if (this.running.has(handle)) {
        task.dispose();
        throw alreadyProposed();
      }
      if (this.abortedEarly.delete(handle) || this.draining) {
        task.dispose();
        throw this.draining ? stopping() : unavailable(`node ${from} has aborted the session`);
      }
      const own = randomBytes(32);
      const session = this.open(params, handle);
      // with two participants all randomness is known now; with three the initiator sends the roster
      if (params.participants.length === 2)
        session.agree(
          new Map([
            [from, randomness],
            [self, own],
          ]),
        );
      else this.pendingRosters.set(session, { [from]: randomness, [self]: own });
      void this.running
        .run(handle, session, task.keyId, async () => {
          await session.awaitBegin(limitsOf(this.limits, params).beginMs);
          await task.run(session);
        })
        .catch(() => undefined) // `run` has logged it and informed the peers
        .finally(() => {
          task.dispose();
          free();
        });
      return { randomness: own, ...(task.statement && { statement: task.statement }) };
    } catch (error) {
      free();
      throw error;
    }
  }

  /** The roster from the initiator: the randomness of all participants. */
  onRoster(from: NodeIndex, handle: string, body: Buffer): void {
    const session = this.running.get(handle);
    const known = this.pendingRosters.get(session);
    if (from !== session.params.initiator || !known)
      throw new GatewayError('invalid_parameter', 'no roster is expected from this node');
    const roster = decodeRoster(body);
    for (const [party, random] of Object.entries(known)) {
      if (!roster.get(Number(party) as NodeIndex)?.equals(random))
        throw new GatewayError('invalid_parameter', 'the roster contains other randomness than was exchanged');
    }
    session.agree(roster);
    this.pendingRosters.delete(session);
  }

  onMessage(from: NodeIndex, handle: string, round: number, body: Buffer, signature: Buffer): void {
    this.running.get(handle).receive(from, round, body, signature);
  }

  /** Another participant has aborted: this node ends the session too. */
  onAbort(from: NodeIndex, handle: string, reason: string): void {
    const session = this.running.find(handle);
    if (!session) this.rememberAborted(handle);
    if (session?.others.includes(from)) session.endByPeer(unavailable(`node ${from} aborted the session: ${reason}`));
  }

  /** Else this node would wait for an initiator that has given up, with its slot taken. */
  private rememberAborted(handle: string): void {
    this.abortedEarly.add(handle);
    const [oldest] = this.abortedEarly;
    if (this.abortedEarly.size > maxAbortedEarly && oldest !== undefined) this.abortedEarly.delete(oldest);
  }

  /** Ends every session with this peer by this key. */
  endAll(keyId: string, peer: NodeIndex, reason: GatewayError): void {
    this.running.endAll(keyId, peer, reason);
  }

  /**
   * Refuses new sessions and waits for the running ones; those that remain after `graceMs` are aborted, and key generations that take
   * seconds at once. Idempotent.
   */
  async drain(graceMs: number): Promise<void> {
    this.draining = true;
    await this.running.drain(graceMs, stopping());
    this.stalls.stop();
  }

  private open(params: SessionParams, handle: string): Session {
    const { self, signingKey, getPublicKey, link } = this.options;
    const { roundMs, lifeMs } = limitsOf(this.limits, params);
    return new Session(params, {
      self,
      signingKey,
      getPublicKey,
      roundMs,
      lifeMs,
      stalledMs: () => this.stalls.totalMs,
      send: (to, round, body, signature) => link.message(to, handle, round, body, signature),
    });
  }

  /** Returns the signature of a participant that has it already; else the session id is agreed on. */
  private async agree<R>(session: Session, handle: string, proposal: Proposal, task: SessionTask<R>): Promise<Hex | undefined> {
    const { link, self } = this.options;
    // waits for every response, so that an abort cannot reach a peer while it still verifies the proposal
    const responses = await Promise.allSettled(
      session.others.map(async (party) => [party, await link.propose(party, proposal)] as const),
    );
    const roster = new Map([[self, proposal.randomness]]);
    for (const response of responses) {
      if (response.status === 'rejected') throw response.reason;
      const [party, answer] = response.value;
      if ('recorded' in answer) return answer.recorded;
      if (answer.statement) task.onStatement?.(answer.statement);
      roster.set(party, answer.randomness);
    }
    // given up meanwhile: the others are told that, and no roster
    session.assertRunning();
    session.agree(roster);
    if (session.others.length > 1) await Promise.all(session.others.map((party) => link.roster(party, handle, roster)));
    return undefined;
  }

  private adopt<R>(task: SessionTask<R>, recorded: Hex): Promise<R> {
    if (!task.adopt) throw unavailable('a peer has answered with a signature that was not asked for');
    return task.adopt(recorded);
  }

  /** @throws GatewayError signers_unavailable */
  private async takeSlot(params: SessionParams): Promise<() => void> {
    if (this.draining) throw stopping();
    const free = await this.slots.take(params);
    if (!this.draining) return free;
    free();
    throw stopping();
  }
}

const alreadyProposed = (): GatewayError => new GatewayError('invalid_parameter', 'this session was already proposed');
const stopping = (): GatewayError => unavailable('this node is stopping');
