import type { BroadcastOutcome } from '../../chains/chain-client';
import type { Alarms } from '../../platform/alarms';
import { setBounded } from '../../platform/bounded';
import type { TransactionEntity } from '../../transactions/entity';

/** How long it is waited for where nobody can tell whether a refusal passes: by then the bytes have been sent some ten times. */
const limitMs = 5 * 60_000;

/** About 100 bytes each. Of one that is forgotten the minutes begin again. */
const maxRemembered = 10_000;

type Sent = BroadcastOutcome | { outcome: 'rejected'; reason: string; isUnknown?: true };

/** Limits the time for which answers are waited out that nobody can tell the meaning of. One for a process. */
export class UnknownRefusals {
  /** When the first one of an attempt came after which nothing else was answered, in milliseconds. */
  private readonly since = new Map<string, number>();

  constructor(private readonly alarms: Alarms) {}

  /**
   * What cannot be told may pass, and is waited for for some minutes from the first such answer on: endpoints that have been silent until then,
   * however long, may only just start. Then it is for an operator, with an alarm: while it waits the transfer can be abandoned, and those
   * behind it are held.
   */
  limit({ txId, chain }: Pick<TransactionEntity, 'txId' | 'chain'>, attempt: number, sent: BroadcastOutcome): Sent {
    const subject = `${txId} ${attempt}`;
    if (sent.outcome !== 'waiting' || sent.passing !== 'unknown') {
      this.since.delete(subject);
      return sent;
    }
    const since = this.since.get(subject) ?? Date.now();
    setBounded(this.since, subject, since, maxRemembered);
    if (Date.now() - since < limitMs) return sent;
    const { reason } = sent;
    this.alarms.raise(
      subject,
      { alert: 'broadcast_refused', chain, tx_id: txId, reason },
      'no endpoint takes a transaction, and nothing shows that this passes; it is sent again',
    );
    return { outcome: 'rejected', reason, isUnknown: true };
  }
}
