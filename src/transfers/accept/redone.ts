import type { EntityManager } from 'typeorm';
import { invalidParameter } from '../../platform/errors';
import { TransactionEntity } from '../../transactions/entity';
import { transferType } from '../../transactions/types';
import type { AcceptedKind } from './accepted-kind';
import { isSameTransfer, type ParsedTransfer, type TransferParser } from './request';

const prefix = 'redo-';
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const anySpelling = /^redo-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * A key in another letter case would be another key, and make a second transfer in place of the same one. It is refused, and not read as the
 * one that is meant: what a key has made before it was refused is still its own.
 * @throws GatewayError invalid_parameter.
 */
export function assertRedoKey(key: string | null): void {
  if (key !== null && anySpelling.test(key) && key !== key.toLowerCase())
    throw invalidParameter('Idempotency-Key', `must name the transaction as the gateway writes it: ${key.toLowerCase()}`);
}

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
