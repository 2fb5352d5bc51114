import Joi from 'joi';
import { type ApplyBlacklistRequest, maxBlacklistChanges } from '../messages/blacklist';
import type { BindKeyRequest, ConfirmKeyRequest, GenerateKeyRequest, TestSignRequest } from '../messages/key-generation';
import type { JournalRequest } from '../messages/journal';
import { nodeIndexes } from '../messages/nodes';
import { maxOrderLength } from '../messages/order';
import type { OrdersRequest } from '../messages/seen-orders';
import type { SignTransactionRequest } from '../messages/signing';
import { reader } from '../platform/untrusted';
import { keyId, maxPayloads } from './order-schema';

/** Requests that a node accepts, from Temporal and from its peers. An unknown field is refused and not ignored. */
const node = Joi.number()
  .valid(...nodeIndexes)
  .required();
const text = (max: number) => Joi.string().min(1).max(max).required();
/** Maximum 64 KB per transaction. */
const maxUnsignedDigits = 2 * 64 * 1024;

/** JWS in compact form: three parts in base64url. */
const order = Joi.string()
  .max(maxOrderLength)
  .pattern(/^[\w-]+\.[\w-]+\.[\w-]+$/)
  .required();
const generateKey = Joi.object<GenerateKeyRequest, true>({ order }).required();
const confirmKey = Joi.object<ConfirmKeyRequest, true>({ keyId }).required();
const testSign = Joi.object<TestSignRequest, true>({ order, peer: node }).required();
const bindKey = Joi.object<BindKeyRequest, true>({ order }).required();
const signTransaction = Joi.object<SignTransactionRequest, true>({
  order,
  unsigned: Joi.string()
    .max(maxUnsignedDigits)
    .pattern(/^0x([0-9a-f]{2})+$/)
    .required(),
  peer: node,
}).required();

const blacklistVersion = Joi.object<{ clientId: string }, true>({ clientId: text(100) }).required();
const nonce = Joi.string()
  .pattern(/^[0-9a-f]{32}$/)
  .required();
const journalRequest = Joi.object<JournalRequest, true>({ txId: text(100), nonce }).required();
const ordersSeen = Joi.object<OrdersRequest, true>({
  after: Joi.number().integer().min(0).allow(null).required(),
  nonce,
}).required();
const applyBlacklist = Joi.object<ApplyBlacklistRequest, true>({
  order,
  changes: Joi.array()
    .items(
      Joi.object<ApplyBlacklistRequest['changes'][number], true>({
        chain: text(64),
        addressKey: text(255),
        listed: Joi.boolean().required(),
      }),
    )
    .max(maxBlacklistChanges)
    .required(),
}).required();

/** One payload of a transaction: the subject of a signing session. */
export interface SignPayloadRequest {
  transaction: SignTransactionRequest;
  /** Position among the transaction's signing payloads. */
  payload: number;
}
const signPayload = Joi.object<SignPayloadRequest, true>({
  transaction: signTransaction,
  payload: Joi.number()
    .integer()
    .min(0)
    .max(maxPayloads - 1)
    .required(),
}).required();

export const readGenerateKey = reader(generateKey);
export const readConfirmKey = reader(confirmKey);
export const readTestSign = reader(testSign);
export const readSignTransaction = reader(signTransaction);
export const readBindKey = reader(bindKey);
export const readBlacklistVersion = reader(blacklistVersion);
export const readApplyBlacklist = reader(applyBlacklist);
export const readJournalRequest = reader(journalRequest);
export const readOrdersSeen = reader(ordersSeen);
export const readSignPayload = reader(signPayload);
