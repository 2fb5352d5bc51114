import { setBounded } from '../../platform/bounded';
import type { ImpossibleProof } from '../chain-client';
import type { ChainDefinition, Hex } from '../types';
import type { Executed, Header } from './answers';
import { toBase58 } from './codec/base58';
import { messageHash } from './codec/message-hash';
import { readParts } from './codec/parts';
import { readKeys } from './foreign';
import type { SolanaNode } from './node';
import { RpcError } from './rpc';

/**
 * Blocks behind the one whose hash a message has that may hold it: 150 by what nodes say (MAX_PROCESSING_AGE of Agave), and one more by how
 * they count a hash's age, which begins with the block after it. With room beyond that.
 */
export const validBlocks = 160;
/** A node that calls a hash valid with so many blocks behind it is not believed: others have to say it, and an operator is told. */
const maxDoubted = 1_000;
/** Blocks that are looked through for one with the message's hash, where nothing says which it is: ten minutes of the shortest slots, which are to have 200 ms (SIMD-0525). */
const maxSearched = 3_000;
/** Oldest attempt whose first block is found by its time: more than a day of the shortest slots. */
const maxAge = 600_000;
/** Slots in a row that are looked at for one with a block. */
const maxSkipped = 500;
/** How far the clocks of the gateway and of validators may differ, seconds. */
const maxSkew = 120;
/** Slots without a block may come in rows, when the chain stood still. */
const maxSlots = 20_000;
const headersAtOnce = 10;

/** `open`: it may still be executed. `lacking`: the node does not have the blocks of a proof; another one may. `found`: under whatever id. */
export type Expiry =
  | { state: 'open' }
  | { state: 'lacking' }
  | { state: 'found'; executed: Executed; block: Header }
  | { state: 'expired'; proof: ImpossibleProof };

interface Walk {
  /** The block with the message's hash, and the last one that was looked at. */
  start: Header;
  last: Header;
}

const maxWalks = 1_000;

/** How far a node has shown what no message can be in: its blocks are final, and more of them than one call has time for. */
export class Walks {
  private readonly byNode = new WeakMap<SolanaNode, Map<string, Walk>>();

  find(node: SolanaNode, key: string): Walk | undefined {
    return this.byNode.get(node)?.get(key);
  }

  keep(node: SolanaNode, key: string, walk: Walk): void {
    const walks = this.byNode.get(node) ?? new Map<string, Walk>();
    this.byNode.set(node, walks);
    setBounded(walks, key, walk, maxWalks);
  }

  forget(node: SolanaNode, key: string): void {
    this.byNode.get(node)?.delete(key);
  }
}

export interface StartHints {
  /** Of the block with the message's hash. */
  slot: number | null;
  /** A slot at which that block was known. */
  notAfter: number | null;
  /** When the attempt began: that block was final by then. */
  begunAt: Date | null;
}

/**
 * Proof that a message was never executed and never will be. Only the next finalized blocks behind the one whose hash it has may hold it: none
 * of them, each the child of the one before, does, under any signature; the block behind them is as deep as watching goes; and the node
 * does not take the hash any more. So the blocks that are looked at are the message's whole life, which begins before the attempt does. `hints`
 * only say where to look for the first one; what the node shows counts. `walks`: a proof that has failed for want of time is taken up where it was.
 */
export async function findExpiry(
  node: SolanaNode,
  chain: ChainDefinition,
  unsigned: Hex,
  hints: StartHints,
  walks: Walks,
): Promise<Expiry> {
  const head = await node.slot();
  const { blockhash, message } = readParts(unsigned);
  const named = readKeys(message);
  const wanted = messageHash(message);
  const known = walks.find(node, wanted);
  const start = known?.start ?? (await findStart(node, head, toBase58(blockhash), hints));
  if (!start) return { state: 'lacking' };
  let last: Header = known?.last ?? start;
  walks.keep(node, wanted, { start, last });
  const ends = start.height + validBlocks;
  const slots = await node.slots(start.slot + 1, Math.min(head, start.slot + maxSlots));
  const life = slots.slice(0, validBlocks);
  const behind = slots.slice(validBlocks);
  // the first block behind them has as many others on it as watching goes deep
  if (behind.length < chain.finalityDepth) return { state: 'open' };
  const lacking = (): Expiry => {
    walks.forget(node, wanted);
    return { state: 'lacking' };
  };
  for (const next of life.filter((slot) => slot > last.slot)) {
    const block = await node.listedBlock(next);
    if (!block || !follows(block, last)) return lacking();
    // whatever executes the message names all that it names; whole blocks are large, and a settler is in many of them
    if (block.accounts.some((accounts) => named.every((account) => accounts.includes(account)))) {
      const whole = await node.block(next);
      if (whole?.blockhash !== block.blockhash) return lacking();
      const executed = whole.transactions.find(({ message }) => messageHash(message) === wanted);
      if (executed) return { state: 'found', executed, block };
    }
    last = block;
    walks.keep(node, wanted, { start, last });
  }
  const [endSlot] = behind as [number];
  const end = await node.header(endSlot);
  if (!end || !follows(end, last) || end.height <= ends) return lacking();
  // the chain may have changed for how many blocks a hash is good: then more of them would have to be looked at
  const goodFor = await readLife(node);
  if (goodFor === null) return { state: 'open' };
  if (goodFor > validBlocks) return { state: 'lacking' };
  if (await node.isBlockhashValid(toBase58(blockhash))) return behind.length > maxDoubted ? lacking() : { state: 'open' };
  const proof = {
    ...{ start_slot: start.slot, start_hash: start.blockhash, last_block_height: ends },
    ...{ end_slot: end.slot, end_hash: end.blockhash },
  };
  return { state: 'expired', proof };
}

/** How many blocks behind its own the newest final hash is good for, as the node says; null: it does not show that block yet. */
async function readLife(node: SolanaNode): Promise<number | null> {
  const { slot, lastValidBlockHeight } = await node.latest();
  const header = await node.header(slot).catch((error: unknown) => {
    if (error instanceof RpcError) return null;
    throw error;
  });
  return header && lastValidBlockHeight - header.height;
}

const follows = ({ parentHash, parentSlot, height }: Header, last: Header): boolean =>
  parentHash === last.blockhash && parentSlot === last.slot && height === last.height + 1;

/** The block with this hash; null: the node does not show it, or not any more. */
async function findStart(
  node: SolanaNode,
  head: number,
  blockhash: string,
  { slot, notAfter, begunAt }: StartHints,
): Promise<Header | null> {
  if (slot !== null && slot <= head) {
    const header = await node.header(slot);
    if (header?.blockhash === blockhash) return header;
  }
  const newest = notAfter === null ? await findNewest(node, head, begunAt) : Math.min(notAfter, head);
  const slots = (await node.slots(Math.max(0, newest - 2 * maxSearched), newest)).reverse().slice(0, maxSearched);
  for (let index = 0; index < slots.length; index += headersAtOnce) {
    const headers = await Promise.all(slots.slice(index, index + headersAtOnce).map((it) => node.header(it)));
    const found = headers.find((header) => header?.blockhash === blockhash);
    if (found) return found;
  }
  return null;
}

const findNewest = async (node: SolanaNode, head: number, begunAt: Date | null): Promise<number> =>
  begunAt === null ? head : findSlotAt(node, head, begunAt.getTime() / 1_000 + maxSkew);

/** A slot before which every block of at most this time lies (seconds); of few blocks, since their times never go back. */
async function findSlotAt(node: SolanaNode, head: number, time: number): Promise<number> {
  let [low, high] = [Math.max(0, head - maxAge, await node.firstSlot()), head];
  while (high - low > maxSkipped) {
    const middle = Math.floor((low + high) / 2);
    const [slot] = await node.slots(middle, Math.min(high, middle + maxSkipped));
    const block = slot === undefined ? null : await node.header(slot);
    if (slot === undefined || !block) {
      high = middle;
      continue;
    }
    // times that are not shown say nothing: the newest blocks are searched
    if (block.time === null) return head;
    if (block.time > time) high = middle;
    else low = slot;
  }
  return high;
}
