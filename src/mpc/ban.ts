import type { KeyObject } from 'node:crypto';
import Joi from 'joi';
import { type NodeIndex, nodeIndexes } from '../messages/nodes';
import { GatewayError } from '../platform/errors';
import { findFault } from '../platform/untrusted';
import { parseStatement, signStatement, type SignedStatement } from './statement';

const maxReasonLength = 200;

/** Fields of a ban's statement. */
export interface BanFields {
  node: NodeIndex;
  key_id: string;
  peer: NodeIndex;
  reason: string;
  /** ISO 8601. */
  banned_at: string;
}

const node = Joi.number()
  .valid(...nodeIndexes)
  .required();
const schema = Joi.object<BanFields, true>({
  node,
  key_id: Joi.string().max(100).required(),
  peer: node,
  reason: Joi.string().max(maxReasonLength).required(),
  banned_at: Joi.string().isoDate().required(),
});

/** @throws GatewayError invalid_parameter when the text is not that of a ban. */
export function readBan(statement: Pick<SignedStatement, 'text'>): BanFields {
  const fields = parseStatement(statement);
  if (findFault(schema, fields) !== null) throw new GatewayError('invalid_parameter', 'malformed ban');
  return fields as BanFields;
}

/** A ban by `node`, made now. */
export function signBan(
  { node: self, keyId, peer, reason }: { node: NodeIndex; keyId: string; peer: NodeIndex; reason: string },
  signingKey: KeyObject,
): SignedStatement {
  const fields: BanFields = {
    node: self,
    key_id: keyId,
    peer,
    reason: reason.slice(0, maxReasonLength),
    banned_at: new Date().toISOString(),
  };
  return signStatement('ban', fields, signingKey);
}

export const reasonOfFailures = (failed: number): string =>
  `${failed} sessions have ended without a signature after messages of this peer`;
