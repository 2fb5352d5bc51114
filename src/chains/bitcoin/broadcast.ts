import type { Hex } from '../types';
import { assertTaken } from './answers';
import { NodeRefusal, type RpcCall } from './rpc';

/** What one node says of a transaction; `isOfNode`: by what this node has in its pool or lets pass, so that another one may take it. */
export type SendOutcome = { outcome: 'accepted' } | { outcome: 'rejected'; reason: string; isOfNode: boolean };

/** Messages of Bitcoin Core and btcd, with the reason that is stored; the first that matches counts. */
const rejectionPatterns: { pattern: RegExp; reason: string; isOfNode?: true }[] = [
  {
    pattern: /min relay fee|mempool min fee|insufficient priority|under the required/i,
    reason: 'the fee is below what the node relays',
    isOfNode: true,
  },
  {
    pattern: /insufficient fee|insufficient absolute fee|rejecting replacement|replacement/i,
    reason: 'the fee is too low for a replacement',
  },
  {
    pattern: /missing-?inputs|missingorspent|orphan|unspent|double ?spend|conflict/i,
    reason: 'an input is spent or unknown',
    isOfNode: true,
  },
  { pattern: /dust/i, reason: 'an output is too small to be relayed' },
  {
    pattern: /too-long-mempool-chain|descendants|ancestors/i,
    reason: 'too many unconfirmed transactions depend on each other',
    isOfNode: true,
  },
  { pattern: /script|signature|witness/i, reason: 'a signature was refused' },
];

/** RPC_VERIFY_ERROR: of Bitcoin Core when it does not know the inputs. */
const verifyError = -25;
/** Codes with which a node refuses the transaction itself: this one, RPC_VERIFY_REJECTED, RPC_VERIFY_ALREADY_IN_CHAIN, RPC_DESERIALIZATION_ERROR. */
export const refusalCodes: ReadonlySet<number> = new Set([verifyError, -26, -27, -22]);

/**
 * sendrawtransaction. Safe to repeat: a transaction that the node has, in its pool or in a block, counts as accepted, whatever the
 * node says about it.
 * @throws what the call throws when the node did not respond, or refused for a reason of its own: the outcome is then unknown.
 */
export async function broadcastTo(call: RpcCall, bytes: Hex, id: string, isKnown: () => Promise<boolean>): Promise<SendOutcome> {
  try {
    assertTaken(await call('sendrawtransaction', [bytes.slice(2)]), id);
    return { outcome: 'accepted' };
  } catch (error) {
    if (!(error instanceof NodeRefusal) || !refusalCodes.has(error.code)) throw error;
    if (await isKnown()) return { outcome: 'accepted' };
    return toRejection(error);
  }
}

/** The reason is never the node's own message. */
export function toRejection({ code, nodeMessage }: NodeRefusal): SendOutcome {
  const rejection = rejectionPatterns.find(({ pattern }) => pattern.test(nodeMessage));
  const isOfNode = code === verifyError || rejection?.isOfNode === true;
  return { outcome: 'rejected', reason: rejection?.reason ?? `refused by the node (code ${code})`, isOfNode };
}
