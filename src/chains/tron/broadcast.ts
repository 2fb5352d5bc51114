import { type Offered, type Refused, toRefused, toUnknownRefusal, unlessKnown } from '../offer';
import type { Hex } from '../types';
import type { TronNode } from './node';

interface Refusal {
  /** What is stored. */
  reason: string;
  /**
   * `view`: by what this node has seen or can do at the moment, so that another one may take it, or this one later. `expiry`: the same bytes are
   * taken by another node, or expire: what becomes of them is shown by the chain. Absent: every node refuses them for good.
   */
  passing?: 'view' | 'expiry';
}

/** java-tron, api.proto: Return.response_code, as Wallet.broadcastTransaction gives them. A code that is not here may stand for what passes. */
const refusals: Readonly<Record<string, Refusal>> = {
  SIGERROR: { reason: 'the signature was refused' },
  TOO_BIG_TRANSACTION_ERROR: { reason: 'the transaction is too long' },
  TAPOS_ERROR: { reason: 'the node does not have the block that the transaction refers to', passing: 'expiry' },
  TRANSACTION_EXPIRATION_ERROR: { reason: 'the transaction has expired', passing: 'expiry' },
  // a node with `node.rpc.trxCacheEnable` refuses bytes that it has seen by their id for an hour, which is longer than they live
  DUP_TRANSACTION_ERROR: { reason: 'the node has seen it before', passing: 'expiry' },
  CONTRACT_VALIDATE_ERROR: { reason: 'the account lacks what it is to pay', passing: 'view' },
  CONTRACT_EXE_ERROR: { reason: 'the contract could not be executed', passing: 'view' },
  BANDWITH_ERROR: { reason: 'the account lacks TRX for the bandwidth', passing: 'view' },
  SERVER_BUSY: { reason: 'too many transactions wait at the node', passing: 'view' },
  BLOCK_UNSOLIDIFIED: { reason: 'the solidified blocks of the node are too far behind', passing: 'view' },
  NO_CONNECTION: { reason: 'the node has no connection to others', passing: 'view' },
  NOT_ENOUGH_EFFECTIVE_CONNECTION: { reason: 'the node has too few connections to others', passing: 'view' },
};

/**
 * Safe to repeat: a transaction that the node has counts as accepted, whatever it says about it, since one that was executed may be
 * called expired or not covered. What is refused for a passing reason is waited for, and so is what is refused with a code that nobody knows.
 * @throws Error when the node did not answer, or with neither a result nor a code: the outcome is then unknown.
 */
export async function sendTo(node: TronNode, bytes: Hex, id: string): Promise<Offered> {
  const { result, code, txid } = await node.send(bytes);
  if (txid !== undefined && txid !== id) throw new Error('the answer is about another transaction');
  if (result === true) return { outcome: 'accepted' };
  const isKnown = () => node.isKnown(id);
  if (typeof code === 'string') return unlessKnown(toRefusal(code), isKnown);
  if (await isKnown()) return { outcome: 'accepted' };
  throw new Error('the node did not take the transaction');
}

function toRefusal(code: string): Refused {
  const refusal = Object.hasOwn(refusals, code) ? refusals[code] : undefined;
  // the message of the node is no part of it
  if (!refusal) return toUnknownRefusal(/^[A-Z_]{1,40}$/.test(code) ? code : 'unknown', '');
  const { reason, passing } = refusal;
  return passing === 'expiry'
    ? { outcome: 'waiting', reason, mayTakeElsewhere: true }
    : toRefused({ reason, ...(passing && { passing }) });
}
