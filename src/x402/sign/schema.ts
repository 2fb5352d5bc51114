import Joi from 'joi';
import { id, oneOf, view } from '../../http/schemas';
import { transactionStatuses } from '../../transactions/entity';

/** The body of POST /x402/sign. What a resource server has written is open: the protocol is extended by others. */
export interface SignPayment {
  x402Version: 1 | 2;
  payer: string;
  paymentRequirements: object;
  resource?: object | null;
  extensions?: object | null;
}

const requirements = Joi.object({
  scheme: Joi.string().required().description('`exact` or `upto`').example('exact'),
  network: Joi.string().required().description('CAIP-2; in version 1 also a name').example('eip155:8453'),
  asset: Joi.string()
    .required()
    .description('Address of the token contract')
    .example('0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'),
  amount: Joi.string().description('Atomic units; version 1 has maxAmountRequired in its place').example('10000'),
  maxAmountRequired: Joi.string().description('Atomic units'),
  payTo: Joi.string().required().example('0x5Bc2e97D04a8F61e3C7B90fD2A6548eC1f73d0E9'),
  maxTimeoutSeconds: Joi.number()
    .required()
    .description('How long the payment can be carried out: 10 to 3600; on Solana as long as its block hash is valid')
    .example(60),
  extra: Joi.object().unknown().allow(null),
}).unknown();

export const signPayment = Joi.object<SignPayment, true>({
  x402Version: Joi.number().valid(1, 2).required(),
  payer: Joi.string().max(255).required().description('Address of one of your accounts'),
  paymentRequirements: requirements
    .required()
    .description('One entry of `accepts` of the response 402, as the resource server has written it'),
  resource: Joi.object().unknown().allow(null).description('`resource` of the response 402; version 2'),
  extensions: Joi.object().unknown().allow(null).description('`extensions` of the response 402; version 2'),
});

export interface SignedPaymentView {
  txId: string;
  status: string;
  paymentPayload: object | null;
  header: { name: string; value: string } | null;
  validUntil: string | null;
  failure: { code: string; message: string } | null;
}

export const signedPaymentView = view<SignedPaymentView>('SignedPayment', {
  txId: id().description('the transaction of the gateway: GET /transactions/{tx_id}'),
  status: oneOf('TransactionStatus', transactionStatuses).description('SUBMITTED: signed, and not seen on the chain yet'),
  paymentPayload: Joi.object()
    .unknown()
    .allow(null)
    .description('what the resource server is to get; null as long as it is not signed, and when it is not to be paid any more'),
  header: Joi.object({ name: Joi.string().required(), value: Joi.string().required() })
    .allow(null)
    .description('the same as a header of the repeated request to the resource server'),
  validUntil: Joi.string().isoDate().allow(null).description('last second at which it can be carried out'),
  failure: Joi.object({ code: Joi.string().required(), message: Joi.string().required() }).allow(null),
});
