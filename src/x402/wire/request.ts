import type { PaymentRequest } from '../../chains/payments';
import type { ChainRegistry } from '../../chains/registry';
import type { Reason } from '../reasons';
import type { Phase } from './amount';
import { readPayer } from './payload';
import { isJsonObject } from '../../chains/json';
import { readV1 } from './v1';
import { readV2 } from './v2';

/** The payer is told in every answer, as far as the body states one. */
export type ReadResult = ({ request: PaymentRequest } | { reason: Reason }) & { payer: string | undefined };

/** The body of POST /x402/verify and /x402/settle, whatever JSON it is, as one canonical request or the reason why it is none. */
export function readPaymentRequest(body: unknown, registry: ChainRegistry, phase: Phase): ReadResult {
  if (!isJsonObject(body)) return { reason: 'invalid_payload', payer: undefined };
  const { x402Version: version, paymentPayload, paymentRequirements } = body;
  const payload = isJsonObject(paymentPayload) && isJsonObject(paymentPayload.payload) ? paymentPayload.payload : null;
  const payer = payload ? readPayer(payload) : undefined;
  if (version !== 1 && version !== 2) return { reason: 'invalid_x402_version', payer };
  if (!isJsonObject(paymentPayload) || !payload) return { reason: 'invalid_payload', payer };
  // the payload need not state the version, but must not contradict
  if (![undefined, null, version].some((stated) => stated === paymentPayload.x402Version))
    return { reason: 'invalid_x402_version', payer };
  const result =
    version === 1
      ? readV1(paymentPayload, payload, paymentRequirements, registry)
      : readV2(paymentPayload, payload, paymentRequirements, registry, phase);
  return { ...result, payer };
}
