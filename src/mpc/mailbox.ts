import { GatewayError } from '../platform/errors';
import type { Party, RoundMessages } from './protocols';

/** A message that breaks the rules of the mailbox. It is refused; the session it was meant for is not harmed by it. */
export class MailboxError extends Error {
  override readonly name = 'MailboxError';
}

interface Waiter {
  round: number;
  from: readonly Party[];
  settle(error?: Error): void;
}

/**
 * Round messages of one session. A sender has exactly one message per round, in order, and can be at most one round
 * ahead: it needs this node's message of a round before it can go on. So never more than two messages per sender wait.
 */
export class Mailbox {
  private readonly held = new Map<Party, Map<number, Uint8Array>>();
  private readonly lastFrom = new Map<Party, number>();
  private taken = 0;
  private closedBy: Error | undefined;
  private waiter: Waiter | undefined;

  constructor(
    senders: readonly Party[],
    private readonly maxRounds: number,
  ) {
    for (const sender of senders) this.held.set(sender, new Map());
  }

  /** @throws MailboxError when the message is a duplicate, out of order, from a stranger, too early or too late. */
  put(round: number, from: Party, body: Uint8Array): void {
    const held = this.held.get(from);
    if (!held) throw new MailboxError(`party ${from} takes no part in this session`);
    if (this.closedBy) throw new MailboxError('the session has ended');
    const expected = (this.lastFrom.get(from) ?? 0) + 1;
    if (round < expected) throw new MailboxError(`party ${from} has sent round ${round} before`);
    if (round > expected) throw new MailboxError(`party ${from} sent round ${round} where ${expected} was due`);
    if (round > this.taken + 2 || round > this.maxRounds) throw new MailboxError(`party ${from} is ahead of the protocol`);
    this.lastFrom.set(from, round);
    held.set(round, body);
    this.wake();
  }

  /**
   * Waits for a message of the round from each of `from`, without taking any.
   * @throws the error the mailbox was closed with, or one that names who is silent after `timeoutMs`.
   */
  async arrived(round: number, from: readonly Party[], timeoutMs: number): Promise<void> {
    if (this.closedBy) throw this.closedBy;
    if (this.has(round, from)) return;
    if (this.waiter) throw new Error('only one wait at a time');
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        const silent = from.filter((party) => !this.held.get(party)?.has(round));
        this.waiter?.settle(
          new GatewayError(
            'signers_unavailable',
            `node ${silent.join(' and ')} sent nothing for round ${round} within ${timeoutMs} ms`,
          ),
        );
      }, timeoutMs);
      this.waiter = {
        round,
        from,
        settle: (error) => {
          clearTimeout(timer);
          this.waiter = undefined;
          if (error) reject(error);
          else resolve();
        },
      };
    });
  }

  /** The messages of the next round, one from each of `from`; they are handed out once. */
  async take(round: number, from: readonly Party[], timeoutMs: number): Promise<RoundMessages> {
    if (round !== this.taken + 1) throw new Error(`round ${round} taken out of order`);
    await this.arrived(round, from, timeoutMs);
    this.taken = round;
    const messages: RoundMessages = new Map();
    for (const party of from) {
      const body = this.held.get(party)?.get(round);
      if (!body) throw new Error('a message that had arrived is gone');
      messages.set(party, body);
    }
    for (const held of this.held.values()) held.delete(round);
    return messages;
  }

  /** Ends every wait with `reason` and refuses whatever comes later. */
  close(reason: Error): void {
    this.closedBy ??= reason;
    for (const held of this.held.values()) held.clear();
    this.waiter?.settle(this.closedBy);
  }

  private has(round: number, from: readonly Party[]): boolean {
    return from.every((party) => this.held.get(party)?.has(round));
  }

  private wake(): void {
    if (this.waiter && this.has(this.waiter.round, this.waiter.from)) this.waiter.settle();
  }
}
