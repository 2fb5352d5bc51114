import type { LockedTransfer } from '../messages/transfer';
import { notFound } from '../platform/errors';
import { formatAmount } from '../platform/money';
import { TransactionEntity } from '../transactions/entity';
import type { StepDependencies } from './dependencies';

/** What a workflow needs to know of its transfer, which was locked when it was accepted. @throws GatewayError not_found. */
export async function adoptHold(
  { database, registry }: Pick<StepDependencies, 'database' | 'registry'>,
  { txId }: { txId: string },
): Promise<LockedTransfer> {
  const transfer = await database.manager.findOneBy(TransactionEntity, { txId, transactionType: 'OUTBOUND' });
  if (!transfer) throw notFound('transaction');
  const chain = registry.get(transfer.chain);
  if (transfer.walletId === null) throw new Error(`transfer ${txId} has no wallet`);
  return {
    txId,
    status: transfer.status,
    walletId: transfer.walletId,
    tokenSymbol: transfer.tokenSymbol,
    chain: chain.name,
    amount: formatAmount(transfer.amount, transfer.decimals),
    stuckAfterMs: chain.stuckAfterMs,
    requiredConfirmations: transfer.requiredConfirmations,
    explorerTx: chain.explorerTx,
  };
}
