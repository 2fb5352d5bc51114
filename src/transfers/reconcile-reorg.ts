import type { DataSource, EntityManager } from 'typeorm';
import { type AlertLog, freezeForShortfalls } from '../ledger/accounts';
import { correctFee } from '../ledger/entries';
import { post } from '../ledger/posting';
import { isExecuted } from '../following/depth';
import { inTransaction } from '../platform/database';
import type { TransactionEntity } from '../transactions/entity';
import { findTransaction, findTransactionForUpdate } from '../transactions/state';
import type { ChainClient } from '../chains/family';
import type { Logger } from '../platform/logging';
import { type Inclusion, loadAttempts } from './attempts';
import type { TransferDependencies } from './dependencies';
import { noteIfBlacklisted } from './destination';
import { findHeldAccountsForUpdate } from './hold';
import { debitedBy } from './settle';

/** `stands`: in a block again, with the books agreeing; `absent`: in none; `differs`: in one, with another effect than was posted. */
export type ReorgOutcome = 'stands' | 'absent' | 'differs';

/**
 * A transfer that had ended was reorganised away, or an attempt of it was executed that had been proven impossible. Mined again to
 * the same effect, by any of its attempts, it stands in its new block; a fee that has changed with the block is posted as an
 * adjustment. With another effect the books are wrong: the accounts are frozen, with an alert, until an operator has looked.
 */
export function reconcileReorg(
  { database, log }: Pick<TransferDependencies, 'database' | 'log'>,
  { txId }: { txId: string },
): Promise<ReorgOutcome> {
  return inTransaction(database, async (manager) => {
    const transfer = await findTransactionForUpdate(manager, txId);
    const [inclusion, other] = (await loadAttempts(manager, txId)).inclusions;
    if (!inclusion) return 'absent';
    if (!other && inclusion.blockHash === transfer.blockHash) return 'stands';
    const { outside, fees } = await posted(manager, txId, transfer.tokenSymbol, transfer.feeSymbol);
    if (other || !isSameEnd(transfer, inclusion) || debitedBy(transfer, inclusion) !== outside) {
      await freeze(manager, transfer, log);
      return 'differs';
    }
    if (inclusion.fee !== fees) {
      const { native } = await findHeldAccountsForUpdate(manager, transfer);
      const { entries, shortfalls } = correctFee(native, inclusion.fee - fees);
      await post(manager, [{ txId, kind: 'adjustment', seq: await adjustments(manager, txId), entries }]);
      await freezeForShortfalls(manager, txId, shortfalls, log);
    }
    await manager.query('update transactions set tx_hash = $2, block_number = $3, block_hash = $4 where tx_id = $1', [
      txId,
      inclusion.hash,
      inclusion.blockNumber.toString(),
      inclusion.blockHash,
    ]);
    return 'stands';
  });
}

/** Ended by proof, a transfer has no block: no inclusion agrees with that. */
const isSameEnd = ({ isSigned, blockHash, status }: TransactionEntity, inclusion: Inclusion): boolean =>
  isSigned && blockHash !== null && status === (isExecuted(inclusion) ? 'CONFIRMED' : 'FAILED');

export interface CorrectReorg {
  database: DataSource;
  client: Pick<ChainClient, 'broadcast'>;
  logger: Logger;
  /** Told while the transfer stands in no block, or in one with another effect. */
  onConfirmedReorged: (txId: string) => Promise<void>;
}

/**
 * An ended transfer has lost its block: the bytes that were executed are sent again (the same resources, so money moves once),
 * and once mined anew the books follow; also to an address that was blacklisted since, of which the record then says so.
 * What had been reverted and is refunded is not sent again: it might succeed now.
 * Safe to repeat; the follower does so until the transfer stands.
 */
export async function correctReorged(
  { database, client, logger, onConfirmedReorged }: CorrectReorg,
  { txId }: { txId: string },
): Promise<void> {
  const outcome = await reconcileReorg({ database, log: logger }, { txId });
  if (outcome === 'stands') {
    logger.info({ tx_id: txId }, 'the transfer was mined again to the same effect');
    return;
  }
  if (outcome === 'absent') await sendExecutedAgain(database.manager, client, logger, txId);
  await onConfirmedReorged(txId);
}

async function sendExecutedAgain(
  manager: EntityManager,
  client: Pick<ChainClient, 'broadcast'>,
  logger: Logger,
  txId: string,
): Promise<void> {
  const { status, txHash } = await findTransaction(manager, txId);
  const executed = (await loadAttempts(manager, txId)).signed.find(({ ids }) => txHash !== null && ids.includes(txHash));
  if (status !== 'CONFIRMED' || !executed) return;
  await noteIfBlacklisted(manager, txId);
  logger.warn({ tx_id: txId, ...(await client.broadcast(executed.signed.bytes)) }, 'sent again');
}

async function freeze(manager: EntityManager, transfer: TransactionEntity, log: AlertLog): Promise<void> {
  const { token, native } = await findHeldAccountsForUpdate(manager, transfer);
  const reason = `transfer ${transfer.txId} ended as ${transfer.status}, but the chain shows another effect`;
  await manager.query(
    'update ledger_accounts set frozen_reason = coalesce(frozen_reason, $2) where ledger_account_id = any($1::uuid[])',
    [[token.ledgerAccountId, native.ledgerAccountId], reason],
  );
  log.error({ alert: 'ended_transfer_changed', tx_id: transfer.txId }, reason);
}

/** What the books say has left: the token to the world outside, the native coin as fees. */
async function posted(manager: EntityManager, txId: string, symbol: string, feeSymbol: string | null) {
  const [row] = await manager.query<{ outside: string; fees: string }[]>(
    `select coalesce(sum(e.amount) filter (where e.bucket = 'EXTERNAL' and e.symbol = $2), 0) as outside,
            coalesce(sum(e.amount) filter (where e.bucket = 'FEES' and e.symbol = $3), 0) as fees
       from ledger_postings p join ledger_entries e using (posting_id) where p.tx_id = $1`,
    [txId, symbol, feeSymbol],
  );
  return { outside: BigInt(row?.outside ?? 0), fees: BigInt(row?.fees ?? 0) };
}

async function adjustments(manager: EntityManager, txId: string): Promise<number> {
  const [row] = await manager.query<{ seq: number }[]>(
    `select coalesce(max(seq), 0) + 1 as seq from ledger_postings where tx_id = $1 and kind = 'adjustment'`,
    [txId],
  );
  return row?.seq ?? 1;
}
