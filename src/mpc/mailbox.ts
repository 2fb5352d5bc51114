import { GatewayError } from '../platform/errors';
import type { NodeIndex } from '../messages/nodes';
import type { RoundMessages } from './protocols';

/** A message that breaks the rules of the mailbox. The message is refused; the session continues. */
export class MailboxError extends Error {
  override readonly name = 'MailboxError';
}

interface Waiter {
  round: number;
  from: readonly NodeIndex[];
  settle(error?: Error): void;
}

/**
 * Round messages of one session. Each sender sends exactly one message per round, in order, and can be at most one round ahead,
 * because it needs this node's message of a round before it can continue. So at most two messages per sender are stored.
 */
export class Mailbox {
  private readonly messages = new Map<NodeIndex, Map<number, Uint8Array>>();
  private readonly lastFrom = new Map<NodeIndex, number>();
  private lastTaken = 0;
  private closeReason: Error | undefined;
  private waiter: Waiter | undefined;

  constructor(
    senders: readonly NodeIndex[],
    private readonly maxRounds: number,
  ) {
    for (const sender of senders) this.messages.set(sender, new Map());
  }

  /** @throws MailboxError when the message is a duplicate, out of order, from a node outside the session, too early or too late. */
  put(round: number, from: NodeIndex, body: Uint8Array): void {
    const ofSender = this.messages.get(from);
    if (!ofSender) throw new MailboxError(`party ${from} takes no part in this session`);
    if (this.closeReason) throw new MailboxError('the session has ended');
    const expected = (this.lastFrom.get(from) ?? 0) + 1;
    if (round < expected) throw new MailboxError(`party ${from} has already sent round ${round}`);
    if (round > expected) throw new MailboxError(`party ${from} sent round ${round} instead of ${expected}`);
    if (round > this.lastTaken + 2 || round > this.maxRounds) throw new MailboxError(`party ${from} is ahead of the protocol`);
    this.lastFrom.set(from, round);
    ofSender.set(round, body);
    this.wake();
  }

  /**
   * Waits for a message of the round from each of `from`, and leaves the messages in the mailbox.
   * @throws the error the mailbox was closed with, or one that names the nodes that sent nothing within `timeoutMs`.
   */
  async arrived(round: number, from: readonly NodeIndex[], timeoutMs: number): Promise<void> {
    if (this.closeReason) throw this.closeReason;
    if (this.has(round, from)) return;
    if (this.waiter) throw new Error('another call is already waiting');
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        const silent = from.filter((party) => !this.messages.get(party)?.has(round));
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

  /** Removes and returns the messages of the next round, one from each of `from`. */
  async take(round: number, from: readonly NodeIndex[], timeoutMs: number): Promise<RoundMessages> {
    if (round !== this.lastTaken + 1) throw new Error(`round ${round} taken out of order`);
    await this.arrived(round, from, timeoutMs);
    this.lastTaken = round;
    const messages: RoundMessages = new Map();
    for (const party of from) {
      const body = this.messages.get(party)?.get(round);
      if (!body) throw new Error('a message that had arrived is missing');
      messages.set(party, body);
    }
    for (const ofSender of this.messages.values()) ofSender.delete(round);
    return messages;
  }

  /** Fails a waiting call with `reason` and refuses all later messages. */
  close(reason: Error): void {
    this.closeReason ??= reason;
    for (const ofSender of this.messages.values()) ofSender.clear();
    this.waiter?.settle(this.closeReason);
  }

  private has(round: number, from: readonly NodeIndex[]): boolean {
    return from.every((party) => this.messages.get(party)?.has(round));
  }

  private wake(): void {
    if (this.waiter && this.has(this.waiter.round, this.waiter.from)) this.waiter.settle();
  }
}
