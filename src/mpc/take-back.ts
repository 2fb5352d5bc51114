import type { KeyObject } from 'node:crypto';
import { GatewayError } from '../platform/errors';
import type { NodeIndex } from '../messages/nodes';
import { type Bans, readBan } from './bans';
import type { Journal } from './journal';
import { readEntry } from './journal-entry';
import type { CopiesPage } from './peer-copies';
import { type SignedStatement, verifyStatement } from './statement';

/** Statements of this node itself, as a peer has kept them. */
export interface OwnCopies {
  entries: SignedStatement[];
  bans: SignedStatement[];
}

/** Pages that are read of one peer at most: 50 million entries. */
const maxPages = 1_000_000;

/** Reads page by page what a peer keeps of this node. @throws GatewayError when the peer does not answer, or with what this node never signed. */
export async function* readOwnCopies(
  self: NodeIndex,
  ownKey: KeyObject,
  peer: NodeIndex,
  after: number,
  fetchPage: (after: number) => Promise<CopiesPage>,
): AsyncIterable<OwnCopies> {
  let position: number | null = after;
  for (let pages = 0; position !== null && pages < maxPages; pages += 1) {
    const page: CopiesPage = await fetchPage(position);
    const isOwnEntry = (statement: SignedStatement) => {
      if (!verifyStatement('entry', statement, ownKey)) return false;
      const { node, peer: other } = readEntry(statement);
      return node === self && other === peer;
    };
    const isOwnBan = (statement: SignedStatement) =>
      verifyStatement('ban', statement, ownKey) && readBan(statement).node === self;
    if (!page.entries.every(isOwnEntry) || !page.bans.every(isOwnBan))
      throw new GatewayError('signers_unavailable', `node ${peer} keeps copies that node ${self} did not sign`);
    if (page.next !== null && page.next <= position)
      throw new GatewayError('signers_unavailable', `the pages of node ${peer} do not advance`);
    yield { entries: page.entries, bans: page.bans };
    position = page.next;
  }
}

/** Puts back what the peers keep. Returns the number of entries that were missing. @throws what a source throws, with everything before it stored. */
export async function takeBack(
  { journal, bans }: { journal: Pick<Journal, 'restore'>; bans: Pick<Bans, 'restore'> },
  sources: AsyncIterable<OwnCopies>[],
): Promise<number> {
  let restored = 0;
  for (const source of sources) {
    for await (const page of source) {
      if (page.entries.length > 0) restored += await journal.restore(page.entries);
      if (page.bans.length > 0) await bans.restore(page.bans);
    }
  }
  return restored;
}
