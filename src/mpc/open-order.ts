import type { AttemptKind } from '../chains/types';
import type { OrderClaims, SigningClaims } from '../messages/order';
import { findFault } from '../platform/untrusted';
import type { OrderKeys } from './order-keys';
import { claimsSchemas } from './order-schema';

/** The claims of an order that one of the gateway's own keys has signed, for this deployment; null for anything else. Its time does not matter. */
export async function openOrder(compact: string, keys: OrderKeys, deployment: string): Promise<OrderClaims | null> {
  try {
    const { payload, isOrder } = await keys.open(compact);
    const claims = JSON.parse(Buffer.from(payload).toString('utf8')) as OrderClaims;
    const schema = claimsSchemas.get(claims.kind);
    return isOrder && schema && findFault(schema, claims) === null && claims.dep === deployment ? claims : null;
  } catch {
    return null;
  }
}

/** Every kind of order that does not follow an earlier attempt begins a transaction. */
export const toAttemptKind = ({ kind }: Pick<SigningClaims, 'kind'>): AttemptKind =>
  kind === 'replacement' || kind === 'reissue' || kind === 'cancellation' ? kind : 'first';
