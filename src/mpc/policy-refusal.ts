import Joi from 'joi';
import type { AttemptKind } from '../chains/types';
import { type NodeIndex, nodeIndexes } from '../messages/nodes';
import type { SignedRefusal } from '../messages/signing';
import { findFault } from '../platform/untrusted';
import type { AdmissionRequest } from './admission';
import type { NodeKeys } from './identity';
import { findSigner, fromWire, parseStatement } from './statement';

/** Fields of a refusal's statement. */
export interface RefusalFields {
  node: NodeIndex;
  tx_id: string;
  attempt: number;
  kind: AttemptKind;
  key_id: string;
  order_hash: string;
  chain: string;
  /** Empty: the native coin. */
  token: string;
  /** Atomic units, decimal digits; the fee in the native coin. */
  amount: string;
  fee: string;
  reason: string;
  /** ISO 8601. */
  refused_at: string;
}

/** Largest text of a refusal. */
export const maxRefusalLength = 2_000;
const text = (max: number) => Joi.string().max(max).required();
const schema = Joi.object<RefusalFields, true>({
  node: Joi.number()
    .valid(...nodeIndexes)
    .required(),
  tx_id: text(100),
  attempt: Joi.number().integer().min(1).required(),
  kind: Joi.string().valid('first', 'replacement', 'reissue', 'cancellation').required(),
  key_id: text(100),
  order_hash: text(64),
  chain: text(64),
  token: text(128).allow(''),
  amount: text(78),
  fee: text(78),
  reason: text(200),
  refused_at: Joi.string().isoDate().required(),
}).required();

export function refusalFields(self: NodeIndex, request: AdmissionRequest, reason: string, at: Date): RefusalFields {
  const { txId, attempt, kind, keyId, orderHash, spends } = request;
  return {
    node: self,
    tx_id: txId,
    attempt,
    kind,
    key_id: keyId,
    order_hash: orderHash,
    chain: spends.chain,
    token: spends.token ?? '',
    amount: spends.amount.toString(),
    fee: spends.fee.toString(),
    reason,
    refused_at: at.toISOString(),
  };
}

/** What a node has signed; null unless it is a refusal and the signature is that node's own. */
export function readRefusal(refusal: SignedRefusal, nodeKeys: NodeKeys): RefusalFields | null {
  const statement = fromWire(refusal);
  const fields = parseStatement(statement);
  if (findFault(schema, fields) !== null) return null;
  const refused = fields as RefusalFields;
  return findSigner('refusal', statement, nodeKeys.get(refused.node) ?? []) ? refused : null;
}
