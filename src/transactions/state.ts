import type { EntityManager, QueryDeepPartialEntity } from 'typeorm';
import { isFailureCode } from '../platform/codes';
import { notFound } from '../platform/errors';
import { isUuid } from '../platform/ids';
import { TransactionEntity, type TransactionStatus } from './entity';
import { stateChanges } from './metrics';

const ends: ReadonlySet<TransactionStatus> = new Set(['CONFIRMED', 'REJECTED', 'FAILED', 'CANCELLED', 'ORPHANED']);

/** True for a final state (except a deposit that a reorganisation removes). */
export const isEnded = ({ status }: { status: TransactionStatus }): boolean => ends.has(status);

/**
 * The transaction, locked until the end of the database transaction; every change of its state begins with this. Lock order
 * everywhere: transaction, wallet limit, account, ledger accounts by id. (The row of a new transaction is nobody's before its commit.)
 * @throws GatewayError not_found.
 */
export async function findTransactionForUpdate(manager: EntityManager, txId: string): Promise<TransactionEntity> {
  const transaction = await findAnyForUpdate(manager, { txId });
  if (!transaction) throw notFound('transaction');
  return transaction;
}

/** The same for an id that may be of no transaction, or of another client: null. */
export function findAnyForUpdate(
  manager: EntityManager,
  where: { txId: string; clientId?: string },
): Promise<TransactionEntity | null> {
  if (!isUuid(where.txId)) return Promise.resolve(null);
  return manager.findOne(TransactionEntity, { where, lock: { mode: 'for_no_key_update' } });
}

/** Locks those of these that are the client's, in id order, so that whoever locks several of them does not wait for each other. Returns their ids. */
export async function lockTransactions(manager: EntityManager, clientId: string, txIds: string[]): Promise<string[]> {
  const rows = await manager.query<{ tx_id: string }[]>(
    'select tx_id from transactions where client_id = $1 and tx_id = any($2::uuid[]) order by tx_id for no key update',
    [clientId, txIds.filter(isUuid)],
  );
  return rows.map(({ tx_id }) => tx_id);
}

/** The current transaction, not locked. @throws GatewayError not_found. */
export async function findTransaction(manager: EntityManager, txId: string): Promise<TransactionEntity> {
  const transaction = await manager.findOneBy(TransactionEntity, { txId });
  if (!transaction) throw notFound('transaction');
  return transaction;
}

type Changes = Omit<QueryDeepPartialEntity<TransactionEntity>, 'status' | 'version' | 'txId'>;

/**
 * Compare-and-set on the version: moves a transaction to its next state, which the database checks and writes to the timeline.
 * Returns the new version.
 * @throws Error when the transaction has changed since it was read (not possible under findTransactionForUpdate).
 */
export async function changeState(
  manager: EntityManager,
  { txId, version }: Pick<TransactionEntity, 'txId' | 'version'>,
  status: TransactionStatus,
  changes: Changes = {},
): Promise<number> {
  if (!(await changeStateAt(manager, { txId, version }, status, changes)))
    throw new Error(`transaction ${txId} is no longer at version ${version}`);
  return version + 1;
}

/** The same without the lock: false, and nothing is written, when the transaction has changed since it was read. */
export async function changeStateAt(
  manager: EntityManager,
  { txId, version }: Pick<TransactionEntity, 'txId' | 'version'>,
  status: TransactionStatus,
  changes: Changes = {},
): Promise<boolean> {
  const { affected } = await manager.update(TransactionEntity, { txId, version }, { ...changes, status, version: version + 1 });
  if (affected !== 1) return false;
  const { failureCode } = changes;
  stateChanges.inc({ status, failure_code: isFailureCode(failureCode) ? failureCode : 'none' });
  return true;
}
