import { keccak256 } from 'viem';
import type { Offered } from '../offer';
import type { Hex } from '../types';
import { NodeRefusal, type RpcCall } from './rpc';
import type { RpcTransaction } from './rpc-types';

interface Rejection {
  pattern: RegExp;
  /** What is stored. */
  reason: string;
  /** The node may have the transaction already: it is asked for the hash before the refusal is accepted. */
  mayBeKnown?: boolean;
  /** By the node's view of its pool or of the chain: another node may take it, or this one later. */
  isPassing?: boolean;
}

/** Error messages of go-ethereum, Nethermind, Erigon, Besu, Reth, Anvil and the rollups' sequencers; the first that fits counts. */
const rejections: readonly Rejection[] = [
  {
    pattern: /already known|already imported|\bknown transaction|alreadyknown|already in (the )?(mem|tx)?pool|already exists/i,
    reason: 'already known',
    mayBeKnown: true,
  },
  {
    pattern: /nonce too low|nonce is too low|oldnonce|already been used|invalid nonce/i,
    reason: 'nonce too low: another transaction has used it',
    mayBeKnown: true,
  },
  {
    pattern: /replacement transaction underpriced|could not replace|underpriced to replace|tries to replace|replacement/i,
    reason: 'replacement transaction underpriced',
    mayBeKnown: true,
    isPassing: true,
  },
  {
    pattern: /underpriced|feetoolow|fee too low|below.*(base ?fee|minimum)|less than block base fee|gas price too low/i,
    reason: 'transaction underpriced',
    mayBeKnown: true,
    isPassing: true,
  },
  {
    pattern:
      /pool (is )?(full|overflow)|(pool|queue) is full|too many (pending|queued)|account limit exceeded|in-?flight transaction limit/i,
    reason: 'the pool of the node is full',
    mayBeKnown: true,
    isPassing: true,
  },
  {
    pattern: /insufficient funds|insufficient balance|upfront cost/i,
    reason: 'insufficient funds for value and gas',
    isPassing: true,
  },
  {
    pattern: /nonce too high|nonce gap|gapped.?nonce/i,
    reason: 'nonce too high: earlier ones are not executed',
    isPassing: true,
  },
  { pattern: /intrinsic gas|gas limit|exceeds block/i, reason: 'gas limit refused' },
  { pattern: /chain ?id|invalid sender|invalid signature/i, reason: 'signature or chain id refused' },
];

/** JSON-RPC and EIP-1474: limit exceeded, method not found, resource unavailable: they say nothing about the transaction. */
const endpointCodes: readonly number[] = [-32005, -32601, -32002];
const limitsRequests = /rate.?limit|too many requests|request limit/i;

/**
 * eth_sendRawTransaction. Safe to repeat: bytes that a node already has count as accepted. What is refused for a passing reason is
 * waited for: it is sent again, and replaced when that takes too long. The reason is never the node's own message, since nodes repeat
 * calldata in it.
 * @throws what the call throws when the node did not respond: the outcome is then unknown and the same bytes are sent again.
 */
export async function broadcastTo(call: RpcCall, bytes: Hex): Promise<Offered> {
  try {
    await call<Hex>('eth_sendRawTransaction', [bytes]);
    return { outcome: 'accepted' };
  } catch (error) {
    if (!(error instanceof NodeRefusal)) throw error;
    const rejection = rejections.find(({ pattern }) => pattern.test(error.nodeMessage));
    // an internal error with an unknown message says nothing about the transaction
    if (!rejection && error.code === -32603) throw error;
    if (rejection?.reason === 'already known') return { outcome: 'accepted' };
    if (rejection?.mayBeKnown && (await isKnown(call, keccak256(bytes)))) return { outcome: 'accepted' };
    if (!rejection && (endpointCodes.includes(error.code) || limitsRequests.test(error.nodeMessage)))
      throw new Error('the endpoint did not pass it on');
    const reason = rejection?.reason ?? `refused by the node (code ${error.code})`;
    return rejection?.isPassing
      ? { outcome: 'waiting', reason, isPassing: true, mayTakeElsewhere: true }
      : { outcome: 'rejected', reason, mayTakeElsewhere: false };
  }
}

async function isKnown(call: RpcCall, hash: Hex): Promise<boolean> {
  return (await call<RpcTransaction | null>('eth_getTransactionByHash', [hash])) !== null;
}
