import { GatewayError } from '../platform/errors';
import type { NodeIndex } from '../messages/nodes';
import { readBan } from './ban';
import type { PublicKeys } from './identity';
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
