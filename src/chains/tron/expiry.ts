import type { ImpossibleProof } from '../chain-client';
import type { ChainDefinition, Hex } from '../types';
import type { Block, Header } from './answers';
import { transactionId } from './codec';
import { decode } from './codec/transaction';
import type { TronNode } from './node';

/** The last two bytes of a number are in a reference: it stands for one block in so many (RecentBlockStore of java-tron). */
const recentBlocks = 65_536;
/** Blocks that the number may stand for, around the one that the time speaks for: blocks are left out, never made early. */
const candidates = 5;
/** Between the reference block and the expiration are 120 blocks, or more when none were made for a while. */
const maxBlocks = 2_000;
const blocksAtOnce = 10;

/** `lacking`: the node does not have the blocks that the proof needs; another one may. `open`: it may still be executed. */
export type Expiry = { state: 'open' } | { state: 'lacking' } | { state: 'expired'; proof: ImpossibleProof };

/**
 * Proof that a transaction which is not among the solidified ones never will be. A block may hold it only if its predecessor is older
 * than the expiration (Manager.validateCommon), and if it descends from the block that the transaction refers to. So all that could hold it lie
 * between that one and the first that is as old as the expiration: none of them does, and that one is as deep as watching goes.
 */
export async function findExpiry(node: TronNode, chain: ChainDefinition, head: Header, unsigned: Hex): Promise<Expiry> {
  const { reference, expiration } = decode(unsigned);
  if (BigInt(head.timeMs) < expiration) return { state: 'open' };
  const final = await node.solidHeader(head.number - chain.finalityDepth + 1);
  if (!final || BigInt(final.timeMs) < expiration) return { state: 'open' };
  const start = await findReference(node, { chain, head, expiration }, reference);
  if (!start) return { state: 'lacking' };
  const end = await walk(node, start, expiration, transactionId(unsigned));
  if (!end) return { state: 'lacking' };
  const proof = {
    expiration: Number(expiration),
    ...{ reference_block: start.number, reference_hash: start.id },
    ...{ end_block: end.number, end_hash: end.id },
  };
  return { state: 'expired', proof };
}

/**
 * null: the node has no such block, or not any more. At most as many blocks as fit were made since the expiration: of those that the number may
 * stand for, the nearest one to that is tried first, then newer ones, and one before it.
 */
async function findReference(
  node: TronNode,
  { chain, head, expiration }: { chain: ChainDefinition; head: Header; expiration: bigint },
  reference: { number: Buffer; id: Buffer },
): Promise<Header | null> {
  const behind = (head.number - reference.number.readUInt16BE() + recentBlocks) % recentBlocks;
  const most = (head.timeMs - Number(expiration)) / chain.blockTimeMs;
  const oldest = Math.floor(Math.max(0, most - behind) / recentBlocks) + 1;
  for (let rounds = oldest; rounds > oldest - candidates && rounds >= 0; rounds -= 1) {
    const number = head.number - behind - rounds * recentBlocks;
    if (number < 0) continue;
    const header = await node.solidHeader(number);
    if (header?.id.slice(16, 32) === reference.id.toString('hex')) return header;
  }
  return null;
}

/** The first block that is as old as the expiration. @throws Error when a block on the way holds the transaction. */
async function walk(node: TronNode, start: Header, expiration: bigint, id: string): Promise<Header | null> {
  let last = start;
  while (BigInt(last.timeMs) < expiration) {
    if (last.number - start.number > maxBlocks) return null;
    const blocks = await node.solidBlocks(last.number + 1, last.number + blocksAtOnce);
    const [first] = blocks;
    if (!first || first.parentId !== last.id) return null;
    const end = blocks.findIndex(({ timeMs }) => BigInt(timeMs) >= expiration);
    const walked = end < 0 ? blocks : blocks.slice(0, end + 1);
    if (walked.some((block) => holds(block, id))) throw new Error('a block holds a transaction that the node does not know');
    last = walked.at(-1) as Block;
  }
  return last;
}

const holds = ({ transactions }: Block, id: string): boolean => transactions.some((transaction) => transaction.id === id);
