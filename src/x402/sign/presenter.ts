import { findAuthoriser } from '../../chains/payment-methods';
import { isJsonObject } from '../../chains/json';
import type { GetFamily } from '../../chains/family';
import type { ChainRegistry } from '../../chains/registry';
import type { JsonObject } from '../../chains/types';
import { nameRecipient } from './refusal';
import type { SignedPaymentView } from './schema';
import type { AuthorisedPayment } from './stored';

/** Headers of the request that pays, by version of the protocol. */
const headers = { 1: 'X-PAYMENT', 2: 'PAYMENT-SIGNATURE' } as const;

/** How a payment stands, with what the resource server is to get once it is signed, as long as that is of use. */
export function presentPayment(
  { registry, getFamily }: { registry: ChainRegistry; getFamily: GetFamily },
  payment: AuthorisedPayment,
): SignedPaymentView {
  const { txId, status, failure, version, signed } = payment;
  const about = { txId, status, failure: failure && { ...failure, message: nameRecipient(failure.message) } };
  const chain = registry.find(payment.chain);
  const authoriser = chain && findAuthoriser(chain.family);
  const { expiresAt = 0 } = signed && chain ? getFamily(chain.family).describe(signed.unsigned) : {};
  // of a payment that was rebuilt nobody knows what the resource server has asked for
  const isKnown = payment.requirements.scheme !== undefined;
  if (!signed || !authoriser || !isKnown || expiresAt * 1000 <= Date.now())
    return { ...about, paymentPayload: null, header: null, validUntil: null };
  const { payload, permit } = authoriser.present(signed.unsigned, signed.signed);
  const paymentPayload = version === 1 ? toPayloadV1(payment, payload) : toPayloadV2(payment, payload, permit);
  return {
    ...about,
    paymentPayload,
    header: { name: headers[version], value: Buffer.from(JSON.stringify(paymentPayload)).toString('base64') },
    validUntil: new Date(expiresAt * 1000).toISOString(),
  };
}

const toPayloadV1 = (
  { requirements: { scheme = null, network = null } }: AuthorisedPayment,
  payload: JsonObject,
): JsonObject => ({
  ...{ x402Version: 1, scheme, network, payload },
});

function toPayloadV2(
  { requirements, resource, extensions }: AuthorisedPayment,
  payload: JsonObject,
  permit: JsonObject | null,
): JsonObject {
  const answered = permit ? withPermit(extensions ?? {}, permit) : extensions;
  return {
    x402Version: 2,
    ...(resource && { resource }),
    ...{ accepted: requirements, payload },
    ...(answered && { extensions: answered }),
  };
}

/** Official clients add to what the resource server has declared. */
function withPermit(declared: JsonObject, permit: JsonObject): JsonObject {
  const { eip2612GasSponsoring: asked } = declared;
  const info = isJsonObject(asked) && isJsonObject(asked.info) ? asked.info : {};
  return { ...declared, eip2612GasSponsoring: { ...(isJsonObject(asked) && asked), info: { ...info, ...permit } } };
}
