import type { ImpossibleProof } from '../chain-client';
import type { ChainDefinition, Hex } from '../types';
import type { Block, Header } from './answers';
import { findFirstSince, findReferred, type Referred } from './block-search';
import { transactionId } from './codec';
import { decode } from './codec/transaction';
import type { TronNode } from './node';

/**
 * Blocks' time that must have passed since the expiration by the gateway's own clock: a minute on the real networks. The solidified chain
 * takes longer to get there, so that an honest endpoint is never waited for, and a fast clock proves nothing early.
 */
const clockBlocks = 20;
/** Between the reference block and the expiration are 120 blocks, or more when none were made for a while. */
const maxBlocks = 2_000;
/**
 * Blocks before the expiration that are looked through where the reference block is gone, which by itself proves that no block holds the
 * transaction: twelve minutes on the real networks. The bytes may live longer (36 minutes, and signers allow an hour).
 */
const lookedThrough = 240;
const blocksAtOnce = 10;

export interface Observer {
  chain: ChainDefinition;
  /** Newest solidified block of the node. */
  head: Header;
  /** The gateway's own clock, milliseconds since the epoch. */
  now: () => number;
}

/**
 * `lacking`: the node does not have the blocks that the proof needs; another one may. `open`: it may still be executed. `agreed`: blocks that
 * every endpoint has to have: the one that ends the proof, and those in place of the referred one, where this node has another chain than
 * the one that the transaction was made on, or lies.
 */
export type Expiry = { state: 'open' } | { state: 'lacking' } | { state: 'expired'; proof: ImpossibleProof; agreed: Header[] };

/**
 * Proof that a transaction which is not among the solidified ones never will be. A block may hold it only if its predecessor is older
 * than the expiration (Manager.validateCommon of java-tron), and if it descends from the block that the transaction refers to
 * (validateTapos). It is proven when
 *
 * - the expiration is over by the gateway's own clock, with some room: an endpoint may show blocks of a time that has not come;
 * - a block as old as the expiration is in the solidified chain, as deep as watching goes;
 * - no block between the one that the transaction refers to and the first that is as old as the expiration holds it, each the child of the one
 *   before. Where the chain has another block in the referred one's place, none can hold it: then the last blocks before the
 *   expiration are looked through.
 */
export async function findExpiry(node: TronNode, { chain, head, now }: Observer, unsigned: Hex): Promise<Expiry> {
  const { reference, expiration } = decode(unsigned);
  const expirationMs = Number(expiration);
  const { blockTimeMs } = chain;
  if (now() < expirationMs + clockBlocks * blockTimeMs || head.timeMs < expirationMs) return { state: 'open' };
  const final = await node.solidHeader(head.number - chain.finalityDepth + 1);
  if (!final || final.timeMs < expirationMs) return { state: 'open' };
  const endNumber = await findFirstSince(node, final, { timeMs: expirationMs, blockTimeMs });
  const referred = await findReferred(node, reference, { endNumber, expirationMs });
  if (!referred) return { state: 'lacking' };
  const start = await findStart(node, endNumber, referred);
  if (!start) return { state: 'lacking' };
  const end = await walk(node, start, expirationMs, transactionId(unsigned));
  if (end?.number !== endNumber) return { state: 'lacking' };
  const others = referred.found === 'missing' ? referred.others : null;
  const proof = {
    ...{ expiration: expirationMs, proved_at: new Date(now()).toISOString() },
    ...(others
      ? { other_block: others[0]?.number ?? null, other_hash: others[0]?.id ?? null }
      : { reference_block: start.number, reference_hash: start.id }),
    ...{ end_block: end.number, end_hash: end.id },
  };
  return { state: 'expired', proof, agreed: [...(others ?? []), end] };
}

/** The block behind which the walk begins; blocks before the newest one of the reference's number may hold the transaction as well. */
async function findStart(node: TronNode, endNumber: number, referred: Referred): Promise<Header | null> {
  if (referred.found === 'block') return referred.block;
  return node.solidHeader(Math.max(0, endNumber - lookedThrough));
}

/** The first block that is as old as the expiration. @throws Error when a block on the way holds the transaction. */
async function walk(node: TronNode, start: Header, expirationMs: number, id: string): Promise<Header | null> {
  let last = start;
  while (last.timeMs < expirationMs) {
    if (last.number - start.number > maxBlocks) return null;
    const blocks = await node.solidBlocks(last.number + 1, last.number + blocksAtOnce);
    const [first] = blocks;
    if (!first || first.parentId !== last.id) return null;
    const end = blocks.findIndex(({ timeMs }) => timeMs >= expirationMs);
    const walked = end < 0 ? blocks : blocks.slice(0, end + 1);
    if (walked.some((block) => holds(block, id))) throw new Error('a block holds a transaction that the node does not know');
    last = walked.at(-1) as Block;
  }
  return last;
}

const holds = ({ transactions }: Block, id: string): boolean => transactions.some((transaction) => transaction.id === id);
