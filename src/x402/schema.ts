import Joi from 'joi';
import type { PaymentScheme } from '../chains/payments';
import { oneOf, view } from '../http/schemas';
import { type Reason, reasons } from './reasons';

/**
 * The body of POST /x402/verify and /x402/settle, as documented. It is open: the protocol is extended by others, and what does not
 * fit is answered as a reason (src/x402/wire) and not refused as a request.
 */
const terms = {
  scheme: oneOf('PaymentScheme', ['exact', 'upto']).required(),
  network: Joi.string().required().description('CAIP-2; in version 1 also a name').example('eip155:8453'),
  asset: Joi.string()
    .required()
    .description('address of the token contract')
    .example('0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'),
  payTo: Joi.string().required().example('0x5Bc2e97D04a8F61e3C7B90fD2A6548eC1f73d0E9'),
  maxTimeoutSeconds: Joi.number().example(60),
  extra: Joi.object().allow(null).unknown(),
};
const amount = Joi.string().description('atomic units, decimal or 0x').example('10000');
const payload = Joi.object().unknown().required().description('what the payer has signed, with the signature');

const v1 = Joi.object({
  x402Version: Joi.number().valid(1).required(),
  paymentPayload: Joi.object({
    x402Version: Joi.number().valid(1),
    scheme: terms.scheme,
    network: terms.network,
    payload,
  })
    .unknown()
    .required(),
  paymentRequirements: Joi.object({ ...terms, maxAmountRequired: amount.required() })
    .unknown()
    .required(),
})
  .unknown()
  .meta({ 'x-component': 'PaymentBodyV1' });

const acceptedTerms = Joi.object({ ...terms, amount: amount.required() })
  .unknown()
  .meta({ 'x-component': 'PaymentTermsV2' });
const v2 = Joi.object({
  x402Version: Joi.number().valid(2).required(),
  paymentPayload: Joi.object({
    x402Version: Joi.number().valid(2),
    accepted: acceptedTerms.required(),
    payload,
    extensions: Joi.object().allow(null).unknown(),
  })
    .unknown()
    .required(),
  paymentRequirements: acceptedTerms.allow(null),
})
  .unknown()
  .meta({ 'x-component': 'PaymentBodyV2' });

export const paymentBodySchema = Joi.alternatives(v1, v2).meta({ 'x-component': 'PaymentBody' });

export interface VerdictView {
  isValid: boolean;
  invalidReason: Reason | null;
  payer?: string;
}

export const verdictView = Joi.object<VerdictView>({
  isValid: Joi.boolean().required(),
  invalidReason: oneOf('PaymentFailureReason', reasons).allow(null).required().description('null when the payment is valid'),
  payer: Joi.string().description('as the payment states it'),
}).meta({ 'x-component': 'PaymentVerdict' });

export interface SettledView {
  success: boolean;
  transaction: string;
  network: string;
  payer?: string;
  txId?: string;
  amount?: string;
  errorReason?: Reason;
}

export const settledView = Joi.object<SettledView>({
  success: Joi.boolean().required(),
  transaction: Joi.string()
    .allow('')
    .required()
    .description('id on the chain; empty when nothing was sent, or with `Prefer: respond-async`'),
  network: Joi.string().allow('').required().description('CAIP-2, or as the body states it').example('eip155:8453'),
  payer: Joi.string().description('as the payment states it'),
  txId: Joi.string().description('the transaction of the gateway: GET /transactions/{tx_id}'),
  amount: Joi.string().description('what was paid, atomic units').example('10000'),
  errorReason: oneOf('PaymentFailureReason', reasons).description(
    'why it is not settled; settlement_pending: it may still be, so repeat the request',
  ),
}).meta({ 'x-component': 'Settlement' });

export interface KindView {
  x402Version: 1 | 2;
  scheme: PaymentScheme;
  network: string;
  /** Whom payers have to name, under the protocol's name for it. */
  extra?: Record<string, string>;
}

export interface SupportedView {
  kinds: KindView[];
  extensions: string[];
  signers: Record<string, string[]>;
}

const kindView = Joi.object<KindView>({
  x402Version: Joi.number().valid(1, 2).required(),
  scheme: terms.scheme,
  network: Joi.string().required().description('CAIP-2; in version 1 a name'),
  extra: Joi.object({
    facilitatorAddress: Joi.string().description('upto: the address that payers have to name'),
    feePayer: Joi.string().description('Solana: the fee payer of the transactions that payers sign'),
  }),
}).meta({ 'x-component': 'PaymentKind' });

export const supportedView = view<SupportedView>('SupportedPayments', {
  kinds: Joi.array().items(kindView),
  extensions: Joi.array().items(Joi.string()).description('keys of the protocol extensions that are taken into account'),
  signers: Joi.object().unknown().description('lists of the addresses that settle, by namespace of CAIP-2, such as eip155:*'),
});
