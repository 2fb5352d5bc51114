import Joi from 'joi';
import { GatewayError } from '../platform/errors';
import { type BlacklistChanges, maxBlacklistChanges } from '../messages/blacklist';
import type { ConfirmKeyRequest, GenerateKeyRequest, TestSignRequest } from '../messages/key-generation';
import { nodeIndexes } from '../messages/nodes';
import type { IntendedOutput, Signer, SignTransactionRequest } from '../messages/signing';
import { protocols } from './protocols';

/**
 * Requests that a node accepts, from Temporal and from its peers. An unknown field is refused and not ignored, since it could
 * change the meaning of the known ones.
 */
const keyId = Joi.string()
  .pattern(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,99}$/)
  .required();
const node = Joi.number()
  .valid(...nodeIndexes)
  .required();
const text = (max: number) => Joi.string().min(1).max(max).required();
const atomic = Joi.string()
  .pattern(/^(0|[1-9]\d{0,77})$/)
  .required();
/** Maximum 64 KB per transaction. */
const maxUnsignedDigits = 2 * 64 * 1024;
/** Maximum number of inputs of a transaction; each has a signing session of its own. */
export const maxPayloads = 64;
const maxOutputs = 64;

const clientId = () => Joi.string().min(1).max(100);
const generateKey = Joi.object<GenerateKeyRequest, true>({ keyId, clientId: clientId() }).required();
const confirmKey = Joi.object<ConfirmKeyRequest, true>({ keyId }).required();
const testSign = Joi.object<TestSignRequest, true>({ keyId, peer: node }).required();
const signer = Joi.object<Signer, true>({
  keyId,
  path: Joi.string()
    .pattern(/^m(\/(0|[1-9]\d{0,9})){1,8}$/)
    .required(),
  protocol: Joi.string()
    .valid(...protocols)
    .required(),
  digests: Joi.array()
    .items(Joi.string().pattern(/^0x[0-9a-f]{64}$/))
    .min(1)
    .max(maxPayloads)
    .required(),
});
const output = Joi.object<IntendedOutput, true>({
  to: text(128),
  tokenContract: Joi.string().min(1).max(128).allow(null).required(),
  amount: atomic,
});
const signTransaction = Joi.object<SignTransactionRequest, true>({
  signers: Joi.array().items(signer).min(1).max(maxPayloads).required(),
  family: text(20),
  kind: Joi.string().valid('first', 'replacement', 'reissue', 'cancellation').required(),
  attempt: Joi.number().integer().min(0).max(1_000_000).required(),
  unsigned: Joi.string()
    .max(maxUnsignedDigits)
    .pattern(/^0x([0-9a-f]{2})+$/)
    .required(),
  intent: Joi.object<SignTransactionRequest['intent'], true>({
    txId: text(100),
    clientId: clientId(),
    chain: text(40),
    fromAddress: text(128),
    outputs: Joi.array().items(output).min(1).max(maxOutputs).required(),
    feeBound: atomic,
  }).required(),
  peer: node,
}).required();

const version = () => Joi.number().integer().min(0).required();
const blacklistChanges = Joi.object<BlacklistChanges, true>({
  clientId: clientId().required(),
  after: version(),
  through: version(),
  changes: Joi.array()
    .items(
      Joi.object<BlacklistChanges['changes'][number], true>({
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

/** Creates a parser of untrusted values. @throws GatewayError invalid_parameter naming the field, never its value. */
const reader =
  <T>(schema: Joi.ObjectSchema<T>) =>
  (value: unknown): T => {
    const result = schema.validate(value, { convert: false, errors: { wrap: { label: false } } });
    if (!result.error) return result.value;
    const path = result.error.details[0]?.path.join('.') || 'request';
    throw new GatewayError('invalid_parameter', `${path} is missing, unknown or malformed`, {
      fields: [{ field: path, message: 'malformed' }],
    });
  };

export const readGenerateKey = reader(generateKey);
export const readConfirmKey = reader(confirmKey);
export const readTestSign = reader(testSign);
export const readSignTransaction = reader(signTransaction);
export const readBlacklistChanges = reader(blacklistChanges);
export const readSignPayload = reader(signPayload);
