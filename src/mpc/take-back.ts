import type { NodeIndex } from '../messages/nodes';
import type { Bans } from './bans';
import type { JournalRecovery } from './journal-recovery';
import type { OwnCopies } from './own-copies';

/** How long one pass reads, between two looks for the operator's decision; the next pass goes on where this one has ended. */
const maxPassMs = 60_000;

interface PeerFailure {
  peer: NodeIndex;
  reason: string;
  /** The peer answers and gives more: the next pass reads on. */
  hasMore: boolean;
}

export interface TakeBackOptions {
  journal: Pick<JournalRecovery, 'restore' | 'recount'>;
  bans: Pick<Bans, 'restore'>;
  others: readonly NodeIndex[];
  /** What a peer keeps of this node's journal, verified. */
  readCopies: (peer: NodeIndex, after: number) => AsyncIterable<OwnCopies>;
  /** For tests: milliseconds since the epoch. */
  now?: () => number;
}

/** Puts back what the peers keep. Each peer is read by itself: what one of them answers, or does not answer, does not concern the other. */
export class TakeBack {
  /** Last entry of each peer that was put back, while the peer's copies were not read to their end. */
  private readonly positions = new Map<NodeIndex, number>();
  /** Peers whose copies were read to their end, while the other's were not. */
  private readonly finished = new Set<NodeIndex>();
  /** Where reading began. */
  private after: number | undefined;

  constructor(private readonly options: TakeBackOptions) {}

  /**
   * Reads the copies of both peers from entry `after` on, or from where the pass before has ended: the two may come to their ends in
   * different passes. Returns the number of entries that were missing, and the peers whose copies were not read to their end.
   * @throws what the database throws
   */
  async pass(after: number, closing: AbortSignal): Promise<{ restored: number; failures: PeerFailure[] }> {
    const { others, journal } = this.options;
    // another one: the database was replaced again
    if (after !== this.after) this.beginAgain();
    this.after = after;
    const unread = others.filter((peer) => !this.finished.has(peer));
    const ends = await Promise.allSettled(unread.map((peer) => this.takeFrom(peer, after, closing)));
    const failures: PeerFailure[] = [];
    let restored = 0;
    for (const end of ends) {
      if (end.status === 'rejected') {
        // perhaps another database answers after this: nothing is known to be stored
        this.beginAgain();
        throw end.reason;
      }
      restored += end.value.restored;
      if (end.value.failure) failures.push(end.value.failure);
    }
    await journal.recount();
    if (failures.length === 0) this.beginAgain();
    return { restored, failures };
  }

  private beginAgain(): void {
    this.positions.clear();
    this.finished.clear();
  }

  private async takeFrom(
    peer: NodeIndex,
    after: number,
    closing: AbortSignal,
  ): Promise<{ restored: number; failure?: PeerFailure }> {
    const { readCopies, now = Date.now } = this.options;
    const deadline = now() + maxPassMs;
    const pages = readCopies(peer, this.positions.get(peer) ?? after)[Symbol.asyncIterator]();
    let restored = 0;
    for (;;) {
      let page: IteratorResult<OwnCopies>;
      try {
        closing.throwIfAborted();
        if (now() > deadline)
          return { restored, failure: { peer, reason: 'its copies are more than one pass reads', hasMore: true } };
        page = await pages.next();
      } catch (error) {
        return { restored, failure: { peer, reason: error instanceof Error ? error.message : String(error), hasMore: false } };
      }
      if (page.done) break;
      restored += await this.store(page.value);
      this.positions.set(peer, page.value.reached);
    }
    this.finished.add(peer);
    return { restored };
  }

  private async store({ entries, bans }: OwnCopies): Promise<number> {
    if (bans.length > 0) await this.options.bans.restore(bans);
    return entries.length > 0 ? this.options.journal.restore(entries) : 0;
  }
}
