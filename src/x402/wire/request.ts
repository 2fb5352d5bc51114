import type { PaymentRequest } from '../../chains/payments';
import type { ChainRegistry } from '../../chains/registry';
import type { Reason } from '../reasons';
import type { Phase } from './amount';
import { readNetwork, readPayer } from './payload';
import { isJsonObject } from '../../chains/json';
import { readV1 } from './v1';
import { readV2 } from './v2';

/** Payer and network are told in every answer, as far as the body states them. */
export type ReadResult = ({ request: PaymentRequest } | { reason: Reason }) & {
  payer: string | undefined;
  /** CAIP-2 of the request's chain; as stated where there is none, and empty where nothing is stated. */
  network: string;
};

/** The body of POST /x402/verify and /x402/settle, whatever JSON it is, as one canonical request or the reason why it is none. */
export function readPaymentRequest(body: unknown, registry: ChainRegistry, phase: Phase): ReadResult {
  if (!isJsonObject(body)) return { reason: 'invalid_payload', payer: undefined, network: '' };
  const { x402Version: version, paymentPayload, paymentRequirements } = body;
  const accepted = isJsonObject(paymentPayload) ? paymentPayload.accepted : undefined;
  const network = readNetwork(paymentRequirements, accepted, paymentPayload);
  const payload = isJsonObject(paymentPayload) && isJsonObject(paymentPayload.payload) ? paymentPayload.payload : null;
  const payer = payload ? readPayer(payload) : undefined;
  if (version !== 1 && version !== 2) return { reason: 'invalid_x402_version', payer, network };
  if (!isJsonObject(paymentPayload) || !payload) return { reason: 'invalid_payload', payer, network };
  // the payload need not state the version, but must not contradict
  if (![undefined, null, version].some((stated) => stated === paymentPayload.x402Version))
    return { reason: 'invalid_x402_version', payer, network };
  const result =
    version === 1
      ? readV1(paymentPayload, payload, paymentRequirements, registry)
      : readV2(paymentPayload, payload, paymentRequirements, registry, phase);
  return { ...result, payer, network: 'request' in result ? result.request.chain.caip2 : network };
}
