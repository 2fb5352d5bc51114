import { GatewayError } from '../platform/errors';
import type { NodeIndex } from '../messages/nodes';
import { type Bans, readBan } from './bans';
import type { PublicKeys } from './identity';
import type { Journal } from './journal';
import { readEntry } from './journal-entry';
import type { CopiesPage } from './peer-copies';
import { findSigner, type SignedStatement } from './statement';

/** Statements of this node itself, as a peer has kept them. */
export interface OwnCopies {
  entries: SignedStatement[];
  bans: SignedStatement[];
  /** Number of the newest entry up to here. */
  reached: number;
}

/** Numbers are microseconds since the epoch. */
const clockToleranceMs = 24 * 60 * 60 * 1000;

/** Reads page by page what a peer keeps of this node. @throws GatewayError when the peer does not answer, or with what this node never signed. */
export async function* readOwnCopies(
  self: NodeIndex,
  ownKeys: PublicKeys,
  peer: NodeIndex,
  after: number,
  fetchPage: (after: number) => Promise<CopiesPage>,
): AsyncIterable<OwnCopies> {
  const isOwnBan = (statement: SignedStatement) =>
    findSigner('ban', statement, ownKeys) !== undefined && readBan(statement).node === self;
  // ends: every page but the last one advances to the number of an entry that this node has signed
  for (let position: number | null = after; position !== null;) {
    const page: CopiesPage = await fetchPage(position);
    let reached: number = position;
    for (const statement of page.entries) {
      if (!findSigner('entry', statement, ownKeys)) throw foreign(self, peer);
      const { node, peer: other, number } = readEntry(statement);
      if (node !== self || other !== peer) throw foreign(self, peer);
      // a key that was replaced may sign anything: a number of the far future would be the last one
      if (number > (Date.now() + clockToleranceMs) * 1000) throw foreign(self, peer);
      if (number <= reached) throw new GatewayError('signers_unavailable', `the copies of node ${peer} are not in order`);
      reached = number;
    }
    if (!page.bans.every(isOwnBan)) throw foreign(self, peer);
    if (page.next !== null && (page.next !== reached || page.entries.length === 0))
      throw new GatewayError('signers_unavailable', `the pages of node ${peer} do not advance`);
    yield { entries: page.entries, bans: page.bans, reached };
    position = page.next;
  }
}

const foreign = (self: NodeIndex, peer: NodeIndex): GatewayError =>
  new GatewayError('signers_unavailable', `node ${peer} keeps copies that node ${self} did not sign`);

/** How long one pass reads, between two looks for the operator's word; the next pass goes on where this one has ended. */
const maxPassMs = 60_000;

interface PeerFailure {
  peer: NodeIndex;
  reason: string;
}

export interface TakeBackOptions {
  journal: Pick<Journal, 'restore' | 'recount'>;
  bans: Pick<Bans, 'restore'>;
  others: readonly NodeIndex[];
  /** What a peer keeps of this node's journal, verified. */
  copiesOf: (peer: NodeIndex, after: number) => AsyncIterable<OwnCopies>;
  /** For tests: milliseconds since the epoch. */
  now?: () => number;
}

/** Puts back what the peers keep. Each peer is read by itself: what one of them answers, or does not answer, does not concern the other. */
export class TakeBack {
  /** Last entry of each peer that was put back, while the peer's copies were not read to their end. */
  private readonly positions = new Map<NodeIndex, number>();

  constructor(private readonly options: TakeBackOptions) {}

  /**
   * Reads the copies of both peers from entry `after` on, or from where the pass before has ended. Returns the number of entries that
   * were missing, and the peers whose copies were not read to their end. @throws what the database throws
   */
  async pass(after: number, closing: AbortSignal): Promise<{ restored: number; failures: PeerFailure[] }> {
    const { others, journal } = this.options;
    const ends = await Promise.allSettled(others.map((peer) => this.takeFrom(peer, after, closing)));
    const failures: PeerFailure[] = [];
    let restored = 0;
    for (const end of ends) {
      if (end.status === 'rejected') {
        // perhaps another database answers after this: nothing is known to be stored
        this.positions.clear();
        throw end.reason;
      }
      restored += end.value.restored;
      if (end.value.failure) failures.push(end.value.failure);
    }
    await journal.recount();
    return { restored, failures };
  }

  private async takeFrom(
    peer: NodeIndex,
    after: number,
    closing: AbortSignal,
  ): Promise<{ restored: number; failure?: PeerFailure }> {
    const { copiesOf, now = Date.now } = this.options;
    const deadline = now() + maxPassMs;
    const pages = copiesOf(peer, this.positions.get(peer) ?? after)[Symbol.asyncIterator]();
    let restored = 0;
    for (;;) {
      let page: IteratorResult<OwnCopies>;
      try {
        closing.throwIfAborted();
        if (now() > deadline) throw new GatewayError('signers_unavailable', 'its copies are more than one pass reads');
        page = await pages.next();
      } catch (error) {
        return { restored, failure: { peer, reason: error instanceof Error ? error.message : String(error) } };
      }
      if (page.done) break;
      restored += await this.store(page.value);
      this.positions.set(peer, page.value.reached);
    }
    this.positions.delete(peer);
    return { restored };
  }

  private async store({ entries, bans }: OwnCopies): Promise<number> {
    if (bans.length > 0) await this.options.bans.restore(bans);
    return entries.length > 0 ? this.options.journal.restore(entries) : 0;
  }
}
