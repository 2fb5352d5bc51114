import { findPaymentMethod } from '../../chains/payment-methods';
import type { PaymentRequest } from '../../chains/payments';
import type { ChainRegistry } from '../../chains/registry';
import type { JsonObject } from '../../chains/types';
import type { Reason } from '../reasons';
import { findNetwork } from './network';
import { readKind, readResource, unservedReason } from './payload';
import { readTerms } from './terms';

/** Version 1: the payer states scheme and network, everything else is in the requirements. */
export function readV1(
  paymentPayload: JsonObject,
  payload: JsonObject,
  paymentRequirements: unknown,
  registry: ChainRegistry,
): { request: PaymentRequest } | { reason: Reason } {
  const { scheme, network } = paymentPayload;
  if (typeof scheme !== 'string' || typeof network !== 'string') return { reason: 'invalid_payload' };
  const requirements = readTerms(paymentRequirements, 'maxAmountRequired');
  if (!requirements) return { reason: 'invalid_payment_requirements' };
  const kind = readKind(1, requirements.scheme, payload);
  if ('reason' in kind) return kind;
  const found = findNetwork(requirements.network, 1, registry);
  if ('reason' in found) return found;
  const method = findPaymentMethod(found.chain.family, kind);
  if (!method) return { reason: unservedReason(kind) };
  if (scheme !== requirements.scheme) return { reason: method.disagreement(kind.scheme, 'scheme') };
  const payers = findNetwork(network, 1, registry);
  if (!('chain' in payers) || payers.chain !== found.chain) return { reason: method.disagreement(kind.scheme, 'network') };
  const { asset, payTo, amount, extra } = requirements;
  const terms = { asset, payTo, amount, settlementAmount: null, extra };
  const resource = readResource(paymentRequirements);
  return { request: { version: 1, ...kind, ...found, ...terms, payload, extensions: {}, paymentId: null, resource } };
}
