import type { EntityManager } from 'typeorm';
import { findPaymentMethod } from '../../chains/payment-methods';
import type { PaymentRequest } from '../../chains/payments';
import { hashPaymentRequest, hashTermsOf } from './request-hash';

/** A payment that one settlement has, as this request names it. */
export interface PaymentKey {
  chain: string;
  payloadType: string;
  /** What the payment uses up. */
  identity: string;
  requestHash: Buffer;
  /** In its place in the row of a settlement that was rebuilt from its bytes; null: none is that of this request. */
  termsHash: Buffer | null;
  /** What the client names the payment by. */
  paymentId: string | null;
}

/** null: what the payment uses up is not well formed. */
export function toPaymentKey(request: PaymentRequest): PaymentKey | null {
  const { chain, payloadType, paymentId } = request;
  const method = findPaymentMethod(chain.family, request);
  const identified = method?.identify(request);
  if (!method || !identified) return null;
  const requestHash = hashPaymentRequest(request, method, identified);
  const termsHash = hashTermsOf(request, method, identified);
  return { chain: chain.name, payloadType, identity: identified.identity, paymentId, requestHash, termsHash };
}

/**
 * `mine`: the same client has asked for the same before; `duplicate`: the payment has a settlement that another client, or another
 * request, has asked for; `conflict`: the client has named another payment by this name.
 */
export type Claimed = { outcome: 'mine'; txId: string } | { outcome: 'duplicate' | 'conflict' };

interface ClaimRow {
  tx_id: string;
  client_id: string;
  request_hash: Buffer;
  is_this: boolean;
}

/**
 * Who has had the payment settled before; null: nobody. That another client has had nothing of it taken is not known here: nothing was sent,
 * and whoever has seen the payment could say so.
 */
export async function findClaimed(
  manager: EntityManager,
  clientId: string,
  { chain, payloadType, identity, requestHash, termsHash, paymentId }: PaymentKey,
): Promise<Claimed | null> {
  const rows = await manager.query<ClaimRow[]>(
    `select tx_id, client_id, request_hash, true as is_this from x402_settlements
      where chain = $1 and payload_type = $2 and phase = 'settle' and identity = $3 and released_at is null and amount > 0
     union all
     select tx_id, client_id, request_hash, true from x402_settlements
      where client_id = $4 and chain = $1 and payload_type = $2 and phase = 'settle' and identity = $3 and released_at is null and amount = 0
     union all
     select tx_id, client_id, request_hash, false from x402_settlements
      where client_id = $4 and payment_id = $5 and released_at is null`,
    [chain, payloadType, identity, clientId, paymentId],
  );
  const isOfThis = ({ request_hash: hash }: ClaimRow): boolean =>
    hash.equals(requestHash) || (termsHash !== null && hash.equals(termsHash));
  const named = rows.find(({ is_this: isThis }) => !isThis);
  if (named && !isOfThis(named)) return { outcome: 'conflict' };
  const claims = rows.filter(({ is_this: isThis }) => isThis);
  if (claims.length === 0) return null;
  const mine = claims.find((claim) => claim.client_id === clientId && isOfThis(claim));
  return mine ? { outcome: 'mine', txId: mine.tx_id } : { outcome: 'duplicate' };
}
