import { type Offered, type Refused, toRefused, toTrouble, toUnknownRefusal, unlessKnown } from '../offer';
import type { Hex } from '../types';
import { assertTaken } from './answers';
import { NodeRefusal, type RpcCall } from './rpc';

interface Rejection {
  pattern: RegExp;
  /** What is stored. */
  reason: string;
  /** Another node may take it, or this one later; `price`: or at a higher fee. Absent: these bytes are refused for good. */
  passing?: 'price' | 'view';
  /** What the operator of this node has set: another one may take it. */
  isOfNode?: true;
}

const unusualForm = 'the node does not relay a transaction of this form';

/**
 * Messages of Bitcoin Core (src/validation.cpp, src/policy, src/common/messages.cpp) and btcd (mempool, blockchain); the first that fits counts.
 * Words that are not here may stand for what passes.
 */
const rejections: readonly Rejection[] = [
  // `mempool-…` since Bitcoin Core 30, which checks with its own policy first: it says no more whether the rules of the chain refuse it as well
  { pattern: /(non-mandatory|mempool)-script-verify/i, reason: unusualForm, isOfNode: true },
  { pattern: /script-verify|failed to validate input|signature/i, reason: 'a signature was refused' },
  // by `-dustrelayfee` of the node
  { pattern: /dust/i, reason: 'an output is too small to be relayed', isOfNode: true },
  {
    pattern: /already (known|exists|have)|already-(known|in-mempool)|already in (utxo|the |block)|same-nonwitness-data/i,
    reason: 'the node says that it has it',
    passing: 'view',
  },
  {
    pattern: /adds-unconfirmed|new unconfirmed input|too many potential replacements|evicts more|spends parent transaction/i,
    reason: 'what it would replace is in its way',
    passing: 'view',
  },
  {
    pattern: /insufficient (fee|absolute fee)|replacement/i,
    reason: 'the fee is too low for a replacement',
    passing: 'price',
  },
  {
    pattern: /min relay fee|mempool min fee|insufficient priority|under the required|due to low fees/i,
    reason: 'the fee is below what the node relays',
    passing: 'price',
  },
  { pattern: /mempool full/i, reason: 'the pool of the node is full', passing: 'price' },
  {
    pattern: /missing[- ]?(inputs|or ?spent)|orphan|unspent|has already been spent/i,
    reason: 'an input is spent or unknown',
    passing: 'view',
  },
  {
    // one that cannot be replaced: the chain shows which of both is executed
    pattern: /conflict|already spent by|double ?spend/i,
    reason: 'another transaction in the pool of the node spends an input',
    passing: 'view',
  },
  {
    pattern: /too-long-mempool-chain|descendants|ancestors|cluster/i,
    reason: 'too many unconfirmed transactions depend on each other',
    passing: 'view',
  },
  {
    pattern: /premature|maturity|non-?(bip68-)?final|not finalized|sequence locks|segwit isn't active/i,
    reason: 'the node lacks blocks before it',
    passing: 'view',
  },
  {
    pattern: /exceeds maximum configured|max-fee-exceeded|absurdly-high-fee/i,
    reason: 'the fee is above what the node passes on',
    isOfNode: true,
  },
  {
    pattern: /non-?standard|not standard|scriptsig|scriptpubkey|bare-multisig|tx-size|op-return|datacarrier|witness|^version$/i,
    reason: unusualForm,
    isOfNode: true,
  },
  { pattern: /bad-txns|less than the amount spent|decode failed/i, reason: 'it is not valid by the rules of the chain' },
];

/** Codes with which a node refuses the transaction itself: RPC_VERIFY_ERROR, …_REJECTED, …_ALREADY_IN_CHAIN, RPC_DESERIALIZATION_ERROR. */
export const refusalCodes: ReadonlySet<number> = new Set([-25, -26, -27, -22]);

/**
 * sendrawtransaction. Safe to repeat: a transaction that the node has, in its pool or in a block, counts as accepted, whatever the
 * node says about it. What is refused for a passing reason is waited for, and so is what is refused in words that nobody knows.
 * @throws what the call throws when the node did not respond, NoAnswer where it limits requests: the outcome is then unknown.
 */
export async function broadcastTo(call: RpcCall, bytes: Hex, id: string, isKnown: () => Promise<boolean>): Promise<Offered> {
  try {
    assertTaken(await call('sendrawtransaction', [bytes.slice(2)]), id);
    return { outcome: 'accepted' };
  } catch (error) {
    if (!(error instanceof NodeRefusal)) throw error;
    if (!refusalCodes.has(error.code)) return toTrouble(error.code, error.nodeMessage);
    return unlessKnown(toRefusal(error), isKnown);
  }
}

/** The reason is never the node's own message: of words that are not known it has the plain ones. */
export function toRefusal({ code, nodeMessage }: NodeRefusal): Refused {
  const rejection = rejections.find(({ pattern }) => pattern.test(nodeMessage));
  return rejection ? toRefused(rejection) : toUnknownRefusal(code, nodeMessage);
}
