import type { EntityManager } from 'typeorm';
import { GatewayError, notFound } from '../../platform/errors';
import { TransactionEntity } from '../../transactions/entity';
import type { AcceptedKind } from './accepted-kind';
import { hashRequest } from './hash-request';
import { isSameTransfer, type ParsedTransfer, type TransferParser } from './request';

/**
 * The transaction that this request has become before, by its id or its idempotency key.
 * @throws GatewayError not_found for the id of another client's transaction; idempotency_key_reused.
 */
export async function findEarlier(
  parser: Pick<TransferParser, 'getFamily'>,
  manager: EntityManager,
  parsed: ParsedTransfer,
  kind: Pick<AcceptedKind, 'transactionType' | 'isSame'>,
): Promise<TransactionEntity | null> {
  const { txId, clientId, idempotencyKey, memo: asked, allowsProgram: isAllowed, externalId: name, retryOf } = parsed.request;
  // together: most requests have neither
  const [byId, byKey] = await Promise.all([
    manager.findOneBy(TransactionEntity, { txId }),
    idempotencyKey === null ? null : findByKey(manager, clientId, idempotencyKey),
  ]);
  if (byId && byId.clientId !== clientId) throw notFound('transaction');
  if (byId) return byId;
  if (!byKey) return null;
  const isRebuilt = byKey.idempotencyKey === null;
  // an operator's redo is what its client has sent with the key already, whatever the client calls it
  const isRedo = retryOf !== null;
  // the memo of a rebuilt transfer is unknown, unless it was ordered
  const isMemoKnown = !isRedo && (!isRebuilt || byKey.memoOnChain);
  const [memo, memoOnChain] = [isMemoKnown ? byKey.memo : asked, isRedo ? parsed.request.memoOnChain : byKey.memoOnChain];
  // a rebuilt one was ordered: whatever it needed was allowed
  const allowsProgram = isRebuilt || isRedo ? isAllowed : byKey.allowsProgram;
  // no order has it, nor has what an operator has had redone
  const hasNoName = isRebuilt || isRedo || (byKey.retryOf !== null && byKey.externalId === null);
  const externalId = hasNoName ? name : byKey.externalId;
  const isSame =
    byKey.transactionType === kind.transactionType &&
    isSameTransfer({ ...byKey, memo, memoOnChain, allowsProgram, externalId }, parsed, parser) &&
    (await kind.isSame(manager, byKey.txId));
  if (!isSame) throw new GatewayError('idempotency_key_reused', 'This Idempotency-Key was used for another transfer');
  return byKey;
}

/** What this key of the client has made. Of a transfer that was rebuilt after the database was restored, only the hash of its key is known. */
export function findByKey(manager: EntityManager, clientId: string, idempotencyKey: string): Promise<TransactionEntity | null> {
  return manager
    .createQueryBuilder(TransactionEntity, 't')
    .where('t.clientId = :clientId and t.isHeld and t.idempotencyKey = :idempotencyKey', { clientId, idempotencyKey })
    .orWhere('t.txId = any(array(select tx_id from rebuilt_requests where request = :request))', {
      request: hashRequest(clientId, idempotencyKey),
    })
    .getOne();
}
