import { findPaymentMethod } from '../../chains/payment-methods';
import type { PaymentRequest } from '../../chains/payments';
import type { ChainRegistry } from '../../chains/registry';
import type { JsonObject } from '../../chains/types';
import type { Reason } from '../reasons';
import { compareTerms } from './agreement';
import { type Phase, readUptoAmounts } from './amount';
import { findNetwork } from './network';
import { type Kind, readExtension, readKind, readPaymentId, unservedReason } from './payload';
import { readTerms, type WireTerms } from './terms';

type Read = { request: PaymentRequest } | { reason: Reason };

/** Version 2: the payer repeats in `accepted` what it has agreed to; without requirements that is all there is. */
export function readV2(
  paymentPayload: JsonObject,
  payload: JsonObject,
  paymentRequirements: unknown,
  registry: ChainRegistry,
  phase: Phase,
): Read {
  const accepted = readTerms(paymentPayload.accepted, 'amount');
  if (!accepted) return { reason: 'invalid_payload' };
  const isGiven = paymentRequirements !== undefined && paymentRequirements !== null;
  const requirements = isGiven ? readTerms(paymentRequirements, 'amount') : null;
  if (isGiven && !requirements) return { reason: 'invalid_payment_requirements' };
  const terms = requirements ?? accepted;
  const kind = readKind(2, terms.scheme, payload);
  if ('reason' in kind) return kind;
  const found = findNetwork(terms.network, 2, registry);
  if ('reason' in found) return found;
  const method = findPaymentMethod(found.chain.family, kind);
  if (!method) return { reason: unservedReason(kind) };
  const differs = compareTerms(accepted, terms, kind.scheme, method);
  if (differs) return { reason: differs };
  const amounts = readAmounts(kind, accepted, requirements, phase);
  if ('reason' in amounts) return amounts;
  const { asset, payTo, extra } = terms;
  const extensions = {
    permit: readExtension(paymentPayload.extensions, 'eip2612GasSponsoring'),
    approval: readExtension(paymentPayload.extensions, 'erc20ApprovalGasSponsoring'),
  };
  const paymentId = readPaymentId(paymentPayload.extensions);
  const request = { version: 2 as const, ...kind, ...found, asset, payTo, ...amounts, extra, payload, extensions };
  return { request: { ...request, paymentId, resource: null } };
}

/** The amount of an exact payment is the same on both sides; a settlementAmount means nothing there. */
const readAmounts = ({ scheme }: Kind, accepted: WireTerms, requirements: WireTerms | null, phase: Phase) =>
  scheme === 'upto' ? readUptoAmounts(accepted, requirements, phase) : { amount: accepted.amount, settlementAmount: null };
