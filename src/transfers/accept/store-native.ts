import type { EntityManager } from 'typeorm';
import { enqueue, type OutboxMessage } from '../../outbox/outbox';
import { TransactionEntity } from '../../transactions/entity';
import { placeTransferHold } from '../hold';
import { type NewTransfer, toNewRow } from './new-row';

/** A transaction of the native coin, which pays its fee as well. */
export interface NewNative extends Omit<NewTransfer, 'token'> {
  /** The transaction that it is made for. */
  parentTxId?: string;
  /** It starts whether or not there is room on its chain: others wait for it, or operators do. */
  needsNoRoom?: true;
  /** The recipient may be an address of a program. */
  allowsProgram?: boolean;
}

/**
 * Stores a transaction that no client has sent: its row, its hold and the message that starts its workflow, all in the caller's database
 * transaction, whose COMMIT fails if the account does not have what is held.
 * @returns the message, which may be delivered after the commit
 */
export async function storeNative(
  manager: EntityManager,
  { parentTxId, needsNoRoom, allowsProgram = false, ...it }: NewNative,
): Promise<OutboxMessage> {
  const { txId, chain, account, assetId, amount, feeLocked } = it;
  const row = toNewRow({ ...it, token: chain.native });
  await manager.insert(TransactionEntity, { ...row, allowsProgram, ...(parentTxId !== undefined && { parentTxId }) });
  const asset = { ledgerAccountId: assetId, chain: chain.name, symbol: chain.native.symbol };
  await placeTransferHold(manager, { txId, source: { asset, native: asset }, amount, feeLocked });
  const start: OutboxMessage = {
    ...{ kind: 'start_transfer', subjectId: txId, clientId: account.clientId },
    ...(!needsNoRoom && { chain: chain.name }),
  };
  await enqueue(manager, start);
  return start;
}
