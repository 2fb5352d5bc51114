import type { EntityManager } from 'typeorm';
import { audit, type AuditAction } from '../../audit/log';
import { insertionOf } from '../../platform/entity-columns';
import { formatAmount } from '../../platform/money';
import { TransactionEntity } from '../../transactions/entity';
import type { TransactionType } from '../../transactions/types';
import { toNewRow } from './new-row';
import { type ParsedTransfer, toActor } from './request';
import type { TransferSource } from './source';

export const toAcceptedRow = (
  transactionType: TransactionType,
  { request, chain, to, amount }: ParsedTransfer,
  { account, token, asset }: TransferSource,
  feeLocked: bigint,
): Partial<TransactionEntity> => ({
  ...toNewRow({
    ...{ txId: request.txId, transactionType, chain, account, token },
    ...{ assetId: asset.ledgerAccountId, to, amount, feeLocked },
  }),
  externalId: request.externalId,
  retryOf: request.retryOf,
  memo: request.memo,
  memoOnChain: request.memoOnChain,
  allowsProgram: request.allowsProgram,
  idempotencyKey: request.idempotencyKey,
  requestedBy: request.userId,
  requestId: request.requestId,
});

/** False when a transfer of this id, key or external id exists, or one in place of the same; one that is being written at the moment is waited for. */
export async function insertAccepted(manager: EntityManager, transfer: Partial<TransactionEntity>): Promise<boolean> {
  const { text, values } = insertionOf(TransactionEntity, transfer);
  const rows = await manager.query<unknown[]>(`${text} on conflict do nothing returning tx_id`, values);
  return rows.length === 1;
}

export function recordAccepted(
  manager: EntityManager,
  { request, chain, token, to, amount }: ParsedTransfer,
  action: AuditAction,
): Promise<void> {
  const { txId, clientId, requestId, tokenSymbol, retryOf } = request;
  return audit(manager, {
    action,
    outcome: 'success',
    actor: toActor(request),
    clientId,
    subject: { type: 'transaction', id: txId },
    detail: {
      chain: chain.name,
      symbol: tokenSymbol,
      amount: formatAmount(amount, token?.decimals ?? 0),
      to_address: to.address,
      ...(retryOf !== null && { retry_of: retryOf }),
    },
    requestId,
  });
}
