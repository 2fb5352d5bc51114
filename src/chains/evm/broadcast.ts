import { keccak256 } from 'viem';
import type { BroadcastOutcome } from '../chain-client';
import type { Hex } from '../types';
import { NodeRefusal, type RpcCall } from './rpc';
import type { RpcTransaction } from './rpc-types';

/**
 * Error messages of go-ethereum, Nethermind, Erigon, Besu, Reth, Anvil and the rollups' sequencers, with the reason that is stored.
 * `known`: the node may have the transaction already, so it is asked for the hash before the refusal is accepted.
 */
const rejectionPatterns: { pattern: RegExp; reason: string; known?: boolean }[] = [
  {
    pattern: /already known|already imported|\bknown transaction|alreadyknown|already in (the )?(mem|tx)?pool|already exists/i,
    reason: 'already known',
    known: true,
  },
  {
    pattern: /nonce too low|nonce is too low|oldnonce|already been used|invalid nonce/i,
    reason: 'nonce too low: another transaction has used it',
    known: true,
  },
  {
    pattern: /replacement transaction underpriced|could not replace|underpriced to replace|replacementnotallowed|replacement/i,
    reason: 'replacement transaction underpriced',
    known: true,
  },
  {
    pattern: /underpriced|feetoolow|fee too low|below.*(base ?fee|minimum)|less than block base fee|gas price too low/i,
    reason: 'transaction underpriced',
    known: true,
  },
  { pattern: /insufficient funds|insufficient balance|upfront cost/i, reason: 'insufficient funds for value and gas' },
  { pattern: /intrinsic gas|gas limit|exceeds block/i, reason: 'gas limit refused' },
  { pattern: /nonce too high|nonce gap/i, reason: 'nonce too high' },
  { pattern: /chain ?id|invalid sender|invalid signature/i, reason: 'signature or chain id refused' },
];

/**
 * eth_sendRawTransaction. Safe to repeat: bytes that a node already has count as accepted. The reason is never the node's own
 * message, since nodes repeat calldata in it.
 * @throws what the call throws when the node did not respond: the outcome is then unknown and the same bytes are sent again.
 */
export async function broadcastTo(call: RpcCall, bytes: Hex): Promise<BroadcastOutcome> {
  try {
    await call<Hex>('eth_sendRawTransaction', [bytes]);
    return { outcome: 'accepted' };
  } catch (error) {
    if (!(error instanceof NodeRefusal)) throw error;
    const rejection = rejectionPatterns.find(({ pattern }) => pattern.test(error.nodeMessage));
    // an internal error with an unknown message says nothing about the transaction
    if (!rejection && error.code === -32603) throw error;
    if (rejection?.reason === 'already known') return { outcome: 'accepted' };
    if (rejection?.known && (await isKnown(call, keccak256(bytes)))) return { outcome: 'accepted' };
    if (!rejection && [-32005, -32601, -32002].includes(error.code)) throw error;
    return { outcome: 'rejected', reason: rejection?.reason ?? `refused by the node (code ${error.code})` };
  }
}

async function isKnown(call: RpcCall, hash: Hex): Promise<boolean> {
  return (await call<RpcTransaction | null>('eth_getTransactionByHash', [hash])) !== null;
}
