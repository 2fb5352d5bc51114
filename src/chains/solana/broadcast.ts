import { isJsonObject } from '../json';
import { assertUnlimited, type KnownRefusal, type Offered, toRefused, toTrouble, toUnknownRefusal } from '../offer';
import type { Hex } from '../types';
import type { SolanaNode } from './node';
import { RpcError } from './rpc';
import { blockhashNotFound } from './simulate';

/** SEND_TRANSACTION_PREFLIGHT_FAILURE and TRANSACTION_SIGNATURE_VERIFICATION_FAILURE of rpc-client-api, custom_error.rs; invalid params. */
const preflightFailure = -32_002;
const refusals: ReadonlyMap<number, KnownRefusal> = new Map([
  [-32_003, { reason: 'the signature was refused' }],
  // a provider says so too of what it does not know or allow among the options
  [-32_602, { reason: 'the transaction was refused as malformed', isOfNode: true }],
]);

/** Of providers, beside HTTP 429. */
const limitCodes: ReadonlySet<number> = new Set([429, -32_429]);

/**
 * Safe to repeat: a node passes on what it has seen before too. A node answers with the id alone: whether a block holds it is for `status`.
 * What is refused with a code that is not known is waited for, and so is a trouble of the node, as of one that is behind.
 * @throws Error when the node did not answer, limits requests, or answers about something else: the outcome is then unknown.
 */
export async function sendTo(node: SolanaNode, bytes: Hex, id: string): Promise<Offered> {
  try {
    if ((await node.send(bytes)) !== id) throw new Error('the answer is about another transaction');
    return { outcome: 'accepted' };
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    const cause = error.code === preflightFailure && isJsonObject(error.data) ? error.data.err : undefined;
    if (cause === 'AlreadyProcessed') return { outcome: 'accepted' };
    // a node that lags does not have the block yet
    if (cause === blockhashNotFound)
      return { outcome: 'waiting', reason: 'the block hash has expired, or is unknown to the node', mayTakeElsewhere: true };
    const { code, nodeMessage } = error;
    assertUnlimited(code, nodeMessage, limitCodes);
    const refusal = refusals.get(code);
    if (refusal) return toRefused(refusal);
    // it has tried the transaction, although it was asked not to
    return code === preflightFailure ? toUnknownRefusal(code, nodeMessage) : toTrouble(code, nodeMessage);
  }
}
