import Joi from 'joi';
import {
  type AuthorisationFacts,
  type EarlierAttempt,
  maxReissuedAttempts,
  type OrderKind,
  type OrderRecipient,
  type OrderSigner,
  type SettlementFacts,
  signingOrderKinds,
} from '../messages/order';
import { protocols } from './protocols';

/** Maximum number of inputs of a transaction; each has a signing session of its own. */
export const maxPayloads = 64;
const maxOutputs = 64;
/** Characters, not UTF-16 units: as many as a request may have. */
const maxMemo = 100;
/** Of the bytes of an attempt that expires: 2 KB. */
const maxEarlierDigits = 2 * 2 * 1024;

const text = (max: number) => Joi.string().min(1).max(max).required();
export const keyId = Joi.string()
  .pattern(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,99}$/)
  .required();
const uuid = Joi.string().uuid().required();
const sha256 = Joi.string().pattern(/^[0-9a-f]{64}$/);
const atomic = Joi.string()
  .pattern(/^(0|[1-9]\d{0,77})$/)
  .required();
const count = (least: number) => Joi.number().integer().min(least).max(Number.MAX_SAFE_INTEGER).required();
const digests = Joi.array()
  .items(Joi.string().pattern(/^0x[0-9a-f]{64}$/))
  .min(1)
  .max(maxPayloads)
  .required();

const protocol = Joi.string()
  .valid(...protocols)
  .required();

const head = {
  v: Joi.number().valid(1).required(),
  dep: text(100),
  jti: uuid,
  seq: count(1),
  iat: count(0),
  exp: count(0),
};
const signer = Joi.object<OrderSigner, true>({
  key_id: keyId,
  path: Joi.string()
    .pattern(/^m(\/(0|[1-9]\d{0,9})){0,8}$/)
    .required(),
  protocol,
  digests,
});
const recipient = Joi.object<OrderRecipient, true>({
  address: text(128),
  token: Joi.string().min(1).max(128).allow(null).required(),
  amount: atomic,
});
const earlier = Joi.object<EarlierAttempt, true>({
  attempt: count(1),
  digests,
  unsigned: Joi.string()
    .max(maxEarlierDigits)
    .pattern(/^0x([0-9a-f]{2})+$/)
    .required(),
  // orders from before an update have none
  begun_at: count(0).optional(),
});
const signing = {
  tx_id: uuid,
  attempt: count(1).max(1_000_000),
  client_id: uuid,
  request: sha256.allow(null).required(),
  signers: Joi.array().items(signer).min(1).max(maxPayloads).required(),
  chain: text(80),
  from: text(128),
  recipients: Joi.array().items(recipient).min(1).max(maxOutputs).required(),
  max_fee: atomic,
  memo: Joi.string().custom((value: string, helpers) => ([...value].length > maxMemo ? helpers.error('string.max') : value)),
};
const kind = (name: OrderKind) => Joi.string().valid(name).required();
const claims = (name: OrderKind, facts: Joi.PartialSchemaMap) => Joi.object({ ...head, kind: kind(name), ...facts }).required();

const settlement = Joi.object<SettlementFacts, true>({
  client_id: uuid,
  method: text(32),
  payer: text(128),
  identity: text(300),
  authorised: atomic,
  window_end: count(1),
});

const authorisation = Joi.object<AuthorisationFacts, true>({
  method: text(32),
  identity: text(300),
  facilitator: Joi.string().min(1).max(128).allow(null).required(),
  window_end: count(1),
});

/** What orders of some kinds say in addition. */
const additions: Partial<Record<OrderKind, Joi.PartialSchemaMap>> = {
  reissue: {
    earlier: Joi.array()
      .items(earlier)
      .min(1)
      .max(maxReissuedAttempts - 1)
      .required(),
  },
  settlement: { settlement: settlement.required() },
  replacement: { settlement, purpose: Joi.string().valid('withdrawal') },
  typed_data: { authorisation: authorisation.required() },
};
const signingOrders = signingOrderKinds.map((name) => [name, claims(name, { ...signing, ...additions[name] })]);

/** The claims of every kind. A field that is not known is refused and not ignored: it could change what the known ones mean. */
export const claimsSchemas: ReadonlyMap<string, Joi.ObjectSchema> = new Map([
  ...(signingOrders as [string, Joi.ObjectSchema][]),
  [
    'generate_key',
    claims('generate_key', {
      key_id: keyId,
      client_id: Joi.string().uuid().allow(null).required(),
      protocol: protocol.optional(),
    }),
  ],
  ['bind_key', claims('bind_key', { key_id: keyId, wallet_id: uuid, client_id: uuid, account_id: uuid.optional() })],
  [
    'blacklist_page',
    claims('blacklist_page', { client_id: uuid, after: count(0), through: count(0), sha256: sha256.required() }),
  ],
]);
