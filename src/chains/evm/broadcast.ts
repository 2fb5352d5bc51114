import { keccak256 } from 'viem';
import { assertUnlimited, type Offered, toRefused, toTrouble, toUnknownRefusal, unlessKnown } from '../offer';
import type { Hex } from '../types';
import { DoubtfulRefusal } from './batch';
import { isEndpointTrouble, NodeRefusal, type RpcCall } from './rpc';
import type { RpcTransaction } from './rpc-types';

interface Rejection {
  pattern: RegExp;
  /** What is stored. */
  reason: string;
  /** The node may have the transaction already: it is asked for the hash before the refusal is accepted. */
  mayBeKnown?: boolean;
  /** Another node may take it, or this one later; `price`: or at a higher one; `unknown`: only the chain shows whether it was refused for good. */
  passing?: 'price' | 'view' | 'unknown';
  /** By what this node has seen last or its operator has set, or somebody else may say so too: another one is asked, and it counts where all say it. */
  isOfNode?: true;
  /** This node has seen more of the chain than one that takes it. */
  hasSeenMore?: true;
}

const signatureRefused = 'signature or chain id refused';

/**
 * Error messages of go-ethereum, op-geth, Nethermind, Erigon, Besu, Reth, Nitro and Anvil; the first that fits counts. Words that are not
 * here may stand for what passes: another endpoint may not share them, nor this one later. So those that are for good are whole phrases of the
 * nodes: others speak of chain ids and gas limits too.
 */
const rejections: readonly Rejection[] = [
  {
    pattern:
      /already (known|imported|reserved)|\bknown transaction|alreadyknown|already in (the )?(mem|tx)?pool|already exists|same hash/i,
    reason: 'the node says that it has it',
    mayBeKnown: true,
    passing: 'view',
  },
  {
    pattern: /nonce too low|nonce is too low|oldnonce|already ?(been )?used|invalid nonce/i,
    reason: 'nonce too low: another transaction has used it',
    mayBeKnown: true,
    // perhaps by an attempt of the same transfer, in a block that another node behind the same URL does not show yet
    passing: 'unknown',
    hasSeenMore: true,
  },
  {
    pattern:
      /replacement transaction underpriced|could not replace|underpriced to replace|tries to replace|replacementnotallowed|replacement/i,
    reason: 'replacement transaction underpriced',
    mayBeKnown: true,
    passing: 'price',
  },
  {
    pattern: /underpriced|feetoolow|fee too low|below.*(base ?fee|minimum)|less than block base fee|gas price too low/i,
    reason: 'transaction underpriced',
    mayBeKnown: true,
    passing: 'price',
  },
  {
    pattern:
      /pool (is )?(full|overflow)|queue (is )?full|too many (pending|queued)|account limit exceeded|in-?flight transaction limit/i,
    reason: 'the pool of the node is full',
    mayBeKnown: true,
    passing: 'price',
  },
  {
    pattern: /insufficient ?funds|insufficient ?balance|upfront cost/i,
    reason: 'insufficient funds for value and gas',
    passing: 'view',
  },
  {
    pattern: /nonce ?too ?(high|far|distant)|nonce is too (high|far|distant)|nonce ?gap|gapped.?nonce|with a lower nonce/i,
    reason: 'nonce too high: earlier ones are not executed',
    passing: 'view',
  },
  {
    // the last one of a block, or a sequencer, that has no room left in it
    pattern: /try again|please retry|temporarily (not |un)available|exceeds the configured cap|^gas limit reached/i,
    reason: 'the node does not take it for now',
    passing: 'view',
  },
  { pattern: /\bintrinsic ?gas ?(too ?low|exceeds gas limit)/i, reason: 'gas limit refused' },
  {
    // by the last block that it has seen (Anvil calls that intrinsic), or by what its operator allows (Nethermind, Reth)
    pattern: /exceeds (block|max transaction) gas limit|^gaslimitexceeded|^(transaction gas limit|intrinsic gas) too high/i,
    reason: 'gas limit refused',
    isOfNode: true,
  },
  {
    pattern:
      /^(invalid sender|invalid chain id for signer|invalid chain id, expected|transaction's chain id does not match|invalid transaction v, r, s values|(invalid, )?invalidtx(chainid|signature))/i,
    reason: signatureRefused,
  },
  {
    // Besu and Reth; a proxy may say so of its own address, or of how it was asked
    pattern:
      /^(invalid chain id|(invalid|wrong) chainid|chainid (is required|not supported)|invalid (transaction )?signature)\.?$/i,
    reason: signatureRefused,
    isOfNode: true,
  },
];

/**
 * What only a node says, of a transaction that it has looked at. The other words above proxies and load balancers say too, of their own queues,
 * upstreams and accounts.
 */
const saidByNodes =
  /already known|alreadyknown|nonce (is )?too (low|high)|oldnonce|insufficient funds for (gas|transfer|intrinsic)|transaction underpriced|feetoolow|less than block base fee|tx ?pool is full|intrinsic gas (too low|exceeds gas limit)|exceeds block gas limit|invalid sender|invalid chain id for signer/i;

/** Of EIP-1474, of op-geth's proxy and of providers. */
const limitCodes: ReadonlySet<number> = new Set([429, -32005, -32012, -32016]);

/**
 * eth_sendRawTransaction. Safe to repeat: bytes that a node already has count as accepted. What is refused for a passing reason is
 * waited for, and so is what is refused in words that nobody knows. The reason is never the node's own message, since nodes repeat
 * calldata in it. With the HTTP status of a failure, or the code of a trouble of the endpoint, only what nodes alone say is about the bytes
 * (`saidByNodes`): what is believed then has the transaction asked about, sent again or parked, and nothing unlocked.
 * @throws what the call throws when the node did not respond, NoAnswer where the endpoint limits requests: the outcome is then unknown and the
 * same bytes are sent again.
 */
export async function broadcastTo(call: RpcCall, bytes: Hex): Promise<Offered> {
  try {
    await call<Hex>('eth_sendRawTransaction', [bytes]);
    return { outcome: 'accepted' };
  } catch (error) {
    const refusal = error instanceof DoubtfulRefusal ? error.refusal : error;
    if (!(refusal instanceof NodeRefusal)) throw error;
    if (!saidByNodes.test(refusal.nodeMessage)) {
      assertUnlimited(refusal.code, refusal.nodeMessage, limitCodes);
      if (refusal !== error || isEndpointTrouble(refusal)) return toTrouble(refusal.code, refusal.nodeMessage);
    }
    const rejection = rejections.find(({ pattern }) => pattern.test(refusal.nodeMessage));
    if (!rejection) return toUnknownRefusal(refusal.code, refusal.nodeMessage);
    return rejection.mayBeKnown ? unlessKnown(toRefused(rejection), () => isKnown(call, keccak256(bytes))) : toRefused(rejection);
  }
}

async function isKnown(call: RpcCall, hash: Hex): Promise<boolean> {
  return (await call<RpcTransaction | null>('eth_getTransactionByHash', [hash])) !== null;
}
