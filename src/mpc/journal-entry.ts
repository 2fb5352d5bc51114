import Joi from 'joi';
import { GatewayError } from '../platform/errors';
import { findFault } from '../platform/untrusted';
import { type NodeIndex, nodeIndexes } from '../messages/nodes';
import { maxReissuedAttempts } from '../messages/order';
import type { AdmissionRequest, EarlierProof } from './admission';
import { maxPayloads } from './order-schema';
import { parseStatement, type SignedStatement } from './statement';

/** Fields of an entry's statement; the database reads its columns from them, so the names are the columns' names. */
export interface EntryFields {
  node: NodeIndex;
  number: number;
  tx_id: string;
  attempt: number;
  payload: number;
  kind: AdmissionRequest['kind'];
  order_hash: string;
  order_seq: number;
  resources: string[];
  digests: string[];
  key_id: string;
  client_id: string;
  peer: NodeIndex;
  initiator: NodeIndex;
  chain: string;
  /** Empty: the native coin. */
  token: string;
  /** Atomic units, decimal digits; the fee in the native coin. */
  amount: string;
  fee: string;
  /** ISO 8601. */
  admitted_at: string;
  /** Of a message with several digests. */
  message_key?: string;
  /** Of a reissue. */
  proofs?: EarlierProof[];
}

const text = (max: number) => Joi.string().max(max).required();
const node = Joi.number()
  .valid(...nodeIndexes)
  .required();
const count = Joi.number().integer().min(0).required();
const digits = Joi.string()
  .pattern(/^\d{1,78}$/)
  .required();
const digests = Joi.array().items(Joi.string().max(66)).min(1).max(maxPayloads).required();
const proofs = Joi.array()
  .items(
    Joi.object<EarlierProof, true>({
      attempt: count,
      digests,
      endpoint: text(300),
      block: count,
      hash: text(128),
      proved_at: Joi.string().isoDate().required(),
    }),
  )
  .min(1)
  .max(maxReissuedAttempts);
const schema = Joi.object<EntryFields, true>({
  node,
  number: count,
  tx_id: text(100),
  attempt: count,
  payload: count,
  kind: Joi.string().valid('first', 'replacement', 'reissue', 'cancellation').required(),
  order_hash: text(64),
  order_seq: count,
  resources: Joi.array().items(Joi.string().max(300)).max(maxPayloads).required(),
  digests,
  key_id: text(100),
  client_id: text(100),
  peer: node,
  initiator: node,
  chain: text(64),
  token: text(128).allow(''),
  amount: digits,
  fee: digits,
  admitted_at: Joi.string().isoDate().required(),
  message_key: Joi.string().max(200),
  proofs,
});

/** `at`: ISO 8601. */
export function entryFields(self: NodeIndex, number: number, request: AdmissionRequest, at: string): EntryFields {
  const { spends } = request;
  return {
    node: self,
    number,
    tx_id: request.txId,
    attempt: request.attempt,
    payload: request.payload,
    kind: request.kind,
    order_hash: request.orderHash,
    order_seq: request.orderSeq,
    resources: request.resources,
    digests: request.digests,
    key_id: request.keyId,
    client_id: request.clientId,
    peer: request.peer,
    initiator: request.initiator,
    chain: spends.chain,
    token: spends.token ?? '',
    amount: spends.amount.toString(),
    fee: spends.fee.toString(),
    admitted_at: at,
    ...(request.messageKey !== undefined && { message_key: request.messageKey }),
    ...(request.proofs && { proofs: request.proofs }),
  };
}

const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/**
 * Whether the text is that of the peer's entry about the same signature: all of it is known here but its number and time, and where the
 * peer has found its own proofs.
 */
export function isPeerEntry(statement: Pick<SignedStatement, 'text'>, self: NodeIndex, request: AdmissionRequest): boolean {
  const { number, admitted_at: at, proofs: found } = (parseStatement(statement) ?? {}) as Partial<EntryFields>;
  if (typeof number !== 'number' || !Number.isSafeInteger(number) || number < 0 || !isoTime.test(String(at))) return false;
  if (!areAbout(found, request.proofs)) return false;
  const theirs = { ...request, peer: self, ...(found && { proofs: found }) };
  return JSON.stringify(entryFields(request.peer, number, theirs, String(at))) === statement.text;
}

/** Proofs of the same attempts, perhaps from other endpoints. */
function areAbout(found: EarlierProof[] | undefined, own: EarlierProof[] | undefined): boolean {
  if (!own || found === undefined || findFault(proofs, found) !== null) return !own && found === undefined;
  const named = (list: EarlierProof[]) => JSON.stringify(list.map(({ attempt, digests: of }) => [attempt, of]));
  return named(found) === named(own);
}

/** @throws GatewayError invalid_parameter when the text is not that of an entry. */
export function readEntry(statement: Pick<SignedStatement, 'text'>): EntryFields {
  const fields = parseStatement(statement);
  const fault = findFault(schema, fields);
  if (fault !== null) throw new GatewayError('invalid_parameter', `malformed journal entry: ${fault}`);
  return fields as EntryFields;
}
