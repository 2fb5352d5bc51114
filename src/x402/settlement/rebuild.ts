import type { EntityManager } from 'typeorm';
import { findPaymentForm } from '../../chains/payment-methods';
import { GatewayError } from '../../platform/errors';
import { capSecond } from '../../platform/last-second';
import type { TransactionEntity } from '../../transactions/entity';
import type { RebuiltTransaction } from '../../transactions/signed-type';
import { hashSettledTerms } from './request-hash';

/**
 * Stores what a settlement pays, as its bytes say it, after the database was restored. What its request said beside that is in no order: a
 * repeated one is known by its terms, and not by the name that the client has given to the payment. An approval was executed before.
 * @throws GatewayError business_error for bytes that are no settlement.
 */
export async function rebuildSettlement(
  manager: EntityManager,
  { txId, clientId }: Pick<TransactionEntity, 'txId' | 'clientId'>,
  { chain, described: { settlement, outputs, expiresAt }, feeBound }: RebuiltTransaction,
): Promise<void> {
  const form = settlement && findPaymentForm(chain.family, settlement.method);
  const [output, ...others] = outputs;
  if (!form || !output?.tokenContract || others.length > 0 || expiresAt === undefined)
    throw new GatewayError('business_error', 'its bytes settle nothing');
  const { method, scheme, payloadType } = form;
  const { action, identity, authorised, authorisation } = settlement;
  const { recipient: payTo, tokenContract: asset, amount: paid } = output;
  const hash = hashSettledTerms({ chain, scheme, payloadType, asset, payTo, authorised, paid, authorisation }, method);
  await manager.query(
    `insert into x402_settlements (tx_id, client_id, chain, scheme, payload_type, identity, request_hash, payment_id, version, authorised,
       amount, valid_after, window_end, action, sponsoring, gas_bound)
     values ($1, $2, $3, $4, $5, $6, $7, null, 2, $8, $9, $10, $11, $12, $13, $14)`,
    [
      ...[txId, clientId, chain.name, scheme, payloadType, identity, hash, authorised.toString(), paid.toString()],
      ...[capSecond(BigInt(action.validAfter)).toString(), expiresAt, JSON.stringify(action)],
      action.permit ? 'eip2612' : action.deployment ? 'deployment' : 'none',
      feeBound.toString(),
    ],
  );
}
