import type { Hex } from '../types';
import type { TronNode } from './node';

/**
 * What one node says of a transaction. `isOfNode`: by what this node has seen of the chain, so that another one may take it. `isTimed`:
 * it is executed elsewhere or expires: what becomes of it is shown by the chain, and nobody has to look at it.
 */
export type SendOutcome = { outcome: 'accepted' } | { outcome: 'rejected'; reason: string; isOfNode: boolean; isTimed: boolean };

/** java-tron, api.proto: Return.response_code, with the reason that is stored. Codes that are missing say nothing about the transaction. */
const refusals: Readonly<Record<string, { reason: string; isOfNode?: true; isTimed?: true }>> = {
  SIGERROR: { reason: 'the signature was refused' },
  TOO_BIG_TRANSACTION_ERROR: { reason: 'the transaction is too long' },
  TAPOS_ERROR: { reason: 'the node does not have the block that the transaction refers to', isOfNode: true, isTimed: true },
  TRANSACTION_EXPIRATION_ERROR: { reason: 'the transaction has expired', isOfNode: true, isTimed: true },
  CONTRACT_VALIDATE_ERROR: { reason: 'the account lacks what it is to pay', isOfNode: true },
  CONTRACT_EXE_ERROR: { reason: 'the contract could not be executed', isOfNode: true },
  BANDWITH_ERROR: { reason: 'the account lacks TRX for the bandwidth', isOfNode: true },
};

/**
 * Safe to repeat: a transaction that the node has counts as accepted, whatever it says about it, since one that was executed may be
 * called expired or not covered.
 * @throws Error when the node did not answer, or is busy or not connected: the outcome is then unknown.
 */
export async function sendTo(node: TronNode, bytes: Hex, id: string): Promise<SendOutcome> {
  const { result, code, txid } = await node.send(bytes);
  if (txid !== undefined && txid !== id) throw new Error('the answer is about another transaction');
  if (result === true) return { outcome: 'accepted' };
  const refusal = typeof code === 'string' && Object.hasOwn(refusals, code) ? refusals[code] : undefined;
  if (await node.isKnown(id)) return { outcome: 'accepted' };
  if (!refusal) throw new Error('the node did not take the transaction');
  const { reason, isOfNode = false, isTimed = false } = refusal;
  return { outcome: 'rejected', reason, isOfNode, isTimed };
}
