import type { KeyObject } from 'node:crypto';
import { GatewayError } from '../platform/errors';
import { signEnvelope, verifyEnvelope } from './envelope';
import { Mailbox, MailboxError } from './mailbox';
import type { Party, RoundMessages, Rounds } from './protocols';
import { deriveSessionId, type Roster, type SessionParams } from './session-params';

/** Message rounds a session may have, the protocol's own and those around it. */
const maxRounds = 16;

export interface SessionDependencies {
  self: Party;
  signingKey: KeyObject;
  publicKeyOf: (party: Party) => KeyObject;
  /** Delivers to one peer; resolves when the peer has accepted it. */
  send: (to: Party, round: number, body: Uint8Array, signature: Buffer) => Promise<void>;
  /** Longest wait for a peer's message of a round. */
  roundMs: number;
  /** Longest life of the session, whatever it waits for. */
  lifeMs: number;
}

/**
 * One run of a protocol between authenticated parties: rounds of messages that go straight to their recipient, each
 * signed for this session, round and direction. Lives in memory only; any failure ends it and a retry is a new session.
 */
export class Session {
  readonly self: Party;
  readonly others: readonly Party[];
  private agreedId: Buffer | undefined;
  private round = 0;
  private readonly mailbox: Mailbox;
  private readonly failure: Promise<never>;
  private rejectAll: (error: Error) => void = () => undefined;
  private readonly expiry: NodeJS.Timeout;
  private ended = false;

  constructor(
    readonly terms: SessionParams,
    private readonly deps: SessionDependencies,
  ) {
    this.self = deps.self;
    this.others = terms.participants.filter((party) => party !== deps.self);
    this.mailbox = new Mailbox(this.others, maxRounds);
    this.failure = new Promise<never>((_, reject) => {
      this.rejectAll = reject;
    });
    this.failure.catch(() => undefined);
    this.expiry = setTimeout(
      () => this.end(new GatewayError('signers_unavailable', `the session took longer than ${deps.lifeMs} ms`)),
      deps.lifeMs,
    );
  }

  /** 32 bytes, the same at every participant. @throws Error before `agree`. */
  get id(): Buffer {
    if (!this.agreedId) throw new Error('the session id is not agreed yet');
    return this.agreedId;
  }

  get agreed(): boolean {
    return this.agreedId !== undefined;
  }

  agree(roster: Roster): void {
    if (this.agreedId) throw new GatewayError('invalid_parameter', 'the session id is agreed already');
    this.agreedId = deriveSessionId(this.terms, roster);
  }

  /** A message from the network. @throws GatewayError when it is not signed for this place or breaks the mailbox's rules. */
  receive(from: Party, round: number, body: Uint8Array, signature: Uint8Array): void {
    if (!this.agreedId) throw new GatewayError('invalid_parameter', 'round message before the session id was agreed');
    if (!this.others.includes(from)) throw new GatewayError('invalid_parameter', `node ${from} takes no part in this session`);
    if (!verifyEnvelope({ sessionId: this.id, round, from, to: this.self }, body, signature, this.deps.publicKeyOf(from))) {
      throw new GatewayError('invalid_parameter', 'the signature of a round message does not verify');
    }
    try {
      this.mailbox.put(round, from, body);
    } catch (error) {
      throw error instanceof MailboxError ? new GatewayError('invalid_parameter', error.message) : error;
    }
  }

  /** Peers begin when the initiator has: it does so only after all of them know the session id. */
  async awaitBegin(timeoutMs: number): Promise<void> {
    await this.mailbox.arrived(1, [this.terms.initiator], timeoutMs);
  }

  /**
   * One round: sends to the recipients named, then waits for a message from each of `from`.
   * @throws Error when a peer cannot be reached, stays silent or aborts.
   */
  async exchange(outgoing: RoundMessages, from: readonly Party[] = this.others): Promise<RoundMessages> {
    this.round += 1;
    const round = this.round;
    const sent = [...outgoing].map(([to, body]) => {
      if (!this.others.includes(to)) throw new Error(`party ${to} takes no part in this session`);
      const header = { sessionId: this.id, round, from: this.self, to };
      return this.deps.send(to, round, body, signEnvelope(header, body, this.deps.signingKey));
    });
    await this.unlessEnded(Promise.all(sent));
    return this.mailbox.take(round, from, this.deps.roundMs);
  }

  /** Runs a protocol from its first message to its result, and frees it whatever happens. */
  async run<R>(rounds: Rounds<R>): Promise<R> {
    try {
      let outgoing = await this.unlessEnded(rounds.start());
      for (let round = 1; round <= rounds.rounds; round += 1) {
        const step = await this.unlessEnded(rounds.next(await this.exchange(outgoing)));
        if ('result' in step) return step.result;
        outgoing = step.messages;
      }
      throw new Error('the protocol gave no result after its last round');
    } finally {
      await rounds.close();
    }
  }

  /** Ends the session: every wait fails with `reason`, later messages are refused. The first reason stays. */
  end(reason: Error): void {
    if (this.ended) return;
    this.ended = true;
    clearTimeout(this.expiry);
    this.mailbox.close(reason);
    this.rejectAll(reason);
  }

  private unlessEnded<T>(work: Promise<T>): Promise<T> {
    return Promise.race([work, this.failure]);
  }
}
