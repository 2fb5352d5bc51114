import type { EntityManager } from 'typeorm';
import { TransactionEntity } from '../../transactions/entity';
import { transferType } from '../../transactions/types';
import type { AcceptedKind } from './accepted-kind';
import { isSameTransfer, type ParsedTransfer, type TransferParser } from './request';

const prefix = 'redo-';
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The Idempotency-Key under which a transfer is redone, by its client or by an operator: a key makes one transfer for ever. */
export const redoKey = (txId: string): string => `${prefix}${txId}`;

/**
 * The transfer of the client that this request redoes, by its Idempotency-Key; null where the key is another one, where that transfer may not
 * be redone, was redone before, or moved something else. Only reads.
 */
export async function findRedone(
  manager: EntityManager,
  parser: Pick<TransferParser, 'getFamily'>,
  parsed: ParsedTransfer,
  { transactionType }: Pick<AcceptedKind, 'transactionType'>,
): Promise<string | null> {
  const { clientId, idempotencyKey, externalId, memo, memoOnChain, allowsProgram } = parsed.request;
  if (transactionType !== transferType || !idempotencyKey?.startsWith(prefix)) return null;
  const txId = idempotencyKey.slice(prefix.length);
  if (!uuid.test(txId)) return null;
  const redone = await manager
    .createQueryBuilder(TransactionEntity, 't')
    .where('t.txId = :txId and t.clientId = :clientId and may_be_redone(t)', { txId, clientId })
    .andWhere('not exists (select from transactions r where r.retry_of = :txId)')
    .getOne();
  if (!redone) return null;
  return isSameTransfer({ ...redone, externalId, memo, memoOnChain, allowsProgram }, parsed, parser) ? txId : null;
}
