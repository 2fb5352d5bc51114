import type { KeyObject } from 'node:crypto';
import { GatewayError } from '../platform/errors';
import { signEnvelope, verifyEnvelope } from './envelope';
import { Mailbox, MailboxError } from './mailbox';
import type { NodeIndex } from '../messages/nodes';
import type { RoundMessages, ProtocolRun } from './protocols';
import { deriveSessionId, type Roster, type SessionParams } from './session-params';

/** Most message rounds of a session: those of the protocol and those before and after it. */
const maxRounds = 16;

export interface SessionDependencies {
  self: NodeIndex;
  signingKey: KeyObject;
  getPublicKey: (party: NodeIndex) => KeyObject;
  /** Delivers to one peer; resolves when the peer has accepted it. */
  send: (to: NodeIndex, round: number, body: Uint8Array, signature: Buffer) => Promise<void>;
  /** How long to wait for a peer's message of a round. */
  roundMs: number;
  /** Time-out of the whole session. */
  lifeMs: number;
  /** Milliseconds for which this process has not run so far (src/mpc/stall-clock.ts). */
  stalledMs: () => number;
}

/**
 * One run of a protocol between authenticated parties: rounds of messages sent directly to their recipients, each signed for this
 * session, round and direction. It exists in memory only; any failure ends it, and a retry is a new session.
 */
export class Session {
  readonly self: NodeIndex;
  readonly others: readonly NodeIndex[];
  private agreedId: Buffer | undefined;
  private round = 0;
  private readonly mailbox: Mailbox;
  private readonly failure: Promise<never>;
  private rejectWaiting: (error: Error) => void = () => undefined;
  private readonly expiry: NodeJS.Timeout;
  private ended: Error | undefined;
  private roundsTaken = 0;
  private abortedByPeer = false;
  private stopped = false;
  private resulted = false;
  /** Milliseconds that this node took for its own messages. */
  private ownMs = 0;
  private readonly stalledBeforeMs: number;

  constructor(
    readonly params: SessionParams,
    private readonly deps: SessionDependencies,
  ) {
    this.self = deps.self;
    this.others = params.participants.filter((party) => party !== deps.self);
    this.mailbox = new Mailbox(this.others, maxRounds);
    this.failure = new Promise<never>((_, reject) => {
      this.rejectWaiting = reject;
    });
    this.failure.catch(() => undefined);
    this.stalledBeforeMs = deps.stalledMs();
    this.expiry = setTimeout(
      () => this.end(new GatewayError('signers_unavailable', `the session took longer than ${deps.lifeMs} ms`)),
      deps.lifeMs,
    );
  }

  /** Rounds whose messages of the other participants this node has processed, or is about to. */
  get received(): number {
    return this.roundsTaken;
  }

  /** Another participant has ended it. */
  get isAbortedByPeer(): boolean {
    return this.abortedByPeer;
  }

  /** This node has ended it without a fault of the other participant. */
  get isStopped(): boolean {
    return this.stopped;
  }

  /** This node's part of the protocol has given its result: what is left is to compare and to store it. */
  get hasResult(): boolean {
    return this.resulted;
  }

  /**
   * This node itself was late: its event loop, its threads or its storage took half of the time of a round or more. A message that it
   * missed, or that the others missed, says nothing about them.
   */
  get isLateHere(): boolean {
    const stalledMs = this.deps.stalledMs() - this.stalledBeforeMs;
    return 2 * Math.max(this.ownMs, stalledMs) >= this.deps.roundMs;
  }

  /** 32 bytes, the same at every participant. @throws Error before `agree`. */
  get id(): Buffer {
    if (!this.agreedId) throw new Error('the session id has not been agreed on yet');
    return this.agreedId;
  }

  get agreed(): boolean {
    return this.agreedId !== undefined;
  }

  agree(roster: Roster): void {
    if (this.agreedId) throw new GatewayError('invalid_parameter', 'the session id has already been agreed on');
    this.agreedId = deriveSessionId(this.params, roster);
  }

  /** A message from the network. @throws GatewayError when its signature does not fit this session, round and direction, or it breaks the mailbox's rules. */
  receive(from: NodeIndex, round: number, body: Uint8Array, signature: Uint8Array): void {
    if (!this.agreedId) throw new GatewayError('invalid_parameter', 'round message before the session id was agreed on');
    if (!this.others.includes(from)) throw new GatewayError('invalid_parameter', `node ${from} takes no part in this session`);
    if (!verifyEnvelope({ sessionId: this.id, round, from, to: this.self }, body, signature, this.deps.getPublicKey(from))) {
      throw new GatewayError('invalid_parameter', 'the signature of a round message does not verify');
    }
    try {
      this.mailbox.put(round, from, body);
    } catch (error) {
      throw error instanceof MailboxError ? new GatewayError('invalid_parameter', error.message) : error;
    }
  }

  /** Peers begin when they receive the initiator's first message, which it sends only after all of them know the session id. */
  async awaitBegin(timeoutMs: number): Promise<void> {
    await this.mailbox.arrived(1, [this.params.initiator], timeoutMs);
  }

  /**
   * One round: sends the messages to their recipients, then waits for a message from each of `from`.
   * @throws Error when a peer is unreachable, sends nothing or aborts.
   */
  async exchange(outgoing: RoundMessages, from: readonly NodeIndex[] = this.others): Promise<RoundMessages> {
    this.assertRunning();
    this.round += 1;
    const round = this.round;
    const sent = [...outgoing].map(([to, body]) => {
      if (!this.others.includes(to)) throw new Error(`party ${to} takes no part in this session`);
      const header = { sessionId: this.id, round, from: this.self, to };
      return this.deps.send(to, round, body, signEnvelope(header, body, this.deps.signingKey));
    });
    await this.unlessEnded(Promise.all(sent));
    const received = await this.mailbox.take(round, from, this.deps.roundMs);
    this.roundsTaken = round;
    return received;
  }

  /**
   * Runs a protocol from its first message to its result and always frees its state. What the protocol says about a message that it has
   * received is waited for even if the session ends meanwhile: a participant that aborts directly after a wrong message is banned for
   * the message all the same.
   */
  async run<R>(protocolRun: ProtocolRun<R>): Promise<R> {
    try {
      let outgoing = await this.measured(protocolRun.start());
      for (let round = 1; round <= protocolRun.rounds; round += 1) {
        const incoming = await this.exchange(outgoing);
        const step = await this.measured(protocolRun.next(incoming));
        if ('result' in step) {
          this.resulted = true;
          return step.result;
        }
        outgoing = step.messages;
      }
      throw new Error('the protocol gave no result after its last round');
    } finally {
      await protocolRun.close();
    }
  }

  /** @throws Error the reason why the session has ended. */
  assertRunning(): void {
    if (this.ended) throw this.ended;
  }

  /** Ends the session: waiting calls fail with `reason`, later messages are refused. Further calls have no effect. */
  end(reason: Error): void {
    if (this.ended) return;
    this.ended = reason;
    clearTimeout(this.expiry);
    this.mailbox.close(reason);
    this.rejectWaiting(reason);
  }

  /** As `end`, because the other participant has aborted. */
  endByPeer(reason: Error): void {
    this.abortedByPeer ||= !this.ended;
    this.end(reason);
  }

  /** As `end`, by no fault of the other participant. */
  stop(reason: Error): void {
    this.stopped ||= !this.ended;
    this.end(reason);
  }

  private async measured<T>(work: Promise<T>): Promise<T> {
    const begunAt = performance.now();
    try {
      return await work;
    } finally {
      this.ownMs += performance.now() - begunAt;
    }
  }

  private unlessEnded<T>(work: Promise<T>): Promise<T> {
    return Promise.race([work, this.failure]);
  }
}
