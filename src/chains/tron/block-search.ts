import type { Header } from './answers';
import type { TronNode } from './node';

/** The last two bytes of a number are in a reference: it stands for one block in so many (RecentBlockStore of java-tron). */
const recentBlocks = 65_536;
/** Of a transaction, from the time of the block that it is executed behind (Constant.MAXIMUM_TIME_UNTIL_EXPIRATION of java-tron). */
const longestLifeMs = 24 * 60 * 60 * 1000;
/** Blocks of one number modulo 65,536 that are looked at: on the real networks two are enough, since they are more than two days apart. */
const maxUses = 20;

export interface Reference {
  /** The last two bytes of a block's number. */
  number: Buffer;
  /** Eight bytes of its id. */
  id: Buffer;
}

/**
 * Number of the first solidified block that is not older than `timeMs`; `final` is not. Blocks that the node does not show count as older, so
 * that the result is a hint until the blocks around it have been seen.
 */
export async function findFirstSince(
  node: Pick<TronNode, 'solidHeader'>,
  final: Header,
  { timeMs, blockTimeMs }: { timeMs: number; blockTimeMs: number },
): Promise<number> {
  const isSince = async (number: number): Promise<boolean> => {
    const header = await node.solidHeader(number);
    return header !== null && header.timeMs >= timeMs;
  };
  let newer = final.number;
  // blocks are left out, and never made early
  let step = Math.floor((final.timeMs - timeMs) / blockTimeMs) + 1;
  let older = newer - step;
  while (older >= 0 && (await isSince(older))) {
    newer = older;
    step *= 2;
    older -= step;
  }
  older = Math.max(older, -1);
  while (newer - older > 1) {
    const middle = Math.floor((older + newer) / 2);
    if (await isSince(middle)) newer = middle;
    else older = middle;
  }
  return newer;
}

/** `missing`: the chain has other blocks in its place (the newest first), or none. */
export type Referred = { found: 'block'; block: Header } | { found: 'missing'; others: Header[] };

/**
 * What stands where a transaction refers to, on the chain of one node. A block refers to the last one before it that has such a number,
 * however old that one is (Manager.validateTapos of java-tron), so that all are looked at that the blocks of the transaction's life refer
 * to: those in it, and the last one before it.
 * @returns null where the node lacks a block that has to be looked at
 */
export async function findReferred(
  node: Pick<TronNode, 'solidHeader'>,
  reference: Reference,
  { endNumber, expirationMs }: { endNumber: number; expirationMs: number },
): Promise<Referred | null> {
  const last = endNumber - 1;
  const newest = last - ((last - reference.number.readUInt16BE() + recentBlocks) % recentBlocks);
  const others: Header[] = [];
  for (let uses = 0; uses < maxUses; uses += 1) {
    const number = newest - uses * recentBlocks;
    if (number < 0) return { found: 'missing', others };
    const header = await node.solidHeader(number);
    if (!header) return null;
    if (header.id.slice(16, 32) === reference.id.toString('hex')) return { found: 'block', block: header };
    others.push(header);
    // every block of the transaction's life refers to this one, or to a newer one
    if (header.timeMs < expirationMs - longestLifeMs) return { found: 'missing', others };
  }
  return null;
}
