import type { EntityManager } from 'typeorm';
import { isUuid } from '../../platform/ids';

/** What an operator wants withdrawn from a drained settler. */
export interface WithdrawalRequest {
  /** Also the tx_id of its transaction. */
  withdrawalId: string;
  settlerId: string;
  /** In the form shown to clients, and in canonical form. */
  toAddress: string;
  toAddressKey: string;
  /** Atomic units of the native coin; null: everything but what the fee may cost and what the chain has an account keep. */
  amount: bigint | null;
  operator: string;
}

/**
 * On record before anything is sent. The database refuses it while anything of the settler is open, and for a settler that is not drained,
 * or was not 10 seconds ago.
 */
export async function storeWithdrawal(manager: EntityManager, request: WithdrawalRequest): Promise<void> {
  const { withdrawalId, settlerId, toAddress, toAddressKey, amount, operator } = request;
  await manager.query(
    `insert into settler_withdrawals (withdrawal_id, settler_id, to_address, to_address_key, amount, operator)
     values ($1, $2, $3, $4, $5, $6)`,
    [withdrawalId, settlerId, toAddress, toAddressKey, amount?.toString() ?? null, operator],
  );
}

/** `status`: of its transaction; null: it is not made yet, or refused. */
export interface WithdrawalState {
  status: string | null;
  refused: string | null;
}

/** @throws Error for an unknown one. */
export async function readWithdrawal(manager: EntityManager, withdrawalId: string): Promise<WithdrawalState> {
  const [row] = await manager.query<WithdrawalState[]>(
    `select t.status, w.refused from settler_withdrawals w left join transactions t on t.tx_id = w.withdrawal_id
      where w.withdrawal_id = $1`,
    [withdrawalId],
  );
  if (!row) throw new Error(`there is no withdrawal ${withdrawalId}`);
  return row;
}

/** One that has no transaction. `refused`: why it gets none. */
export interface UnmadeWithdrawal extends Omit<WithdrawalRequest, 'toAddressKey'> {
  chain: string;
  requestedAt: Date;
  refused: string | null;
}

interface UnmadeRow {
  withdrawal_id: string;
  settler_id: string;
  chain: string;
  to_address: string;
  amount: string | null;
  operator: string;
  requested_at: Date;
  refused: string | null;
}

/** null: its transaction is there, or nobody has asked for it. */
export async function findUnmade(manager: EntityManager, withdrawalId: string): Promise<UnmadeWithdrawal | null> {
  if (!isUuid(withdrawalId)) return null;
  const [row] = await manager.query<UnmadeRow[]>(
    `select w.withdrawal_id, w.settler_id, s.chain, w.to_address, w.amount, w.operator, w.requested_at, w.refused
       from settler_withdrawals w join settlers s using (settler_id)
      where w.withdrawal_id = $1 and not exists (select from transactions t where t.tx_id = w.withdrawal_id)`,
    [withdrawalId],
  );
  if (!row) return null;
  const { chain, operator, refused } = row;
  return {
    ...{ withdrawalId: row.withdrawal_id, settlerId: row.settler_id, chain, toAddress: row.to_address },
    amount: row.amount === null ? null : BigInt(row.amount),
    ...{ operator, requestedAt: row.requested_at, refused },
  };
}

const lockOf = `hashtextextended('withdrawal ' || lower($1), 0)`;

/** Until the end of the database transaction nobody else makes its transaction, or takes the request back. Waits for who does. */
export async function lockRequest(manager: EntityManager, withdrawalId: string): Promise<void> {
  await manager.query(`select pg_advisory_xact_lock(${lockOf})`, [withdrawalId]);
}

/** The same without waiting. @returns whether nobody else has the lock. */
export async function tryLockRequest(manager: EntityManager, withdrawalId: string): Promise<boolean> {
  const [lock] = await manager.query<{ locked: boolean }[]>(`select pg_try_advisory_xact_lock(${lockOf}) as locked`, [
    withdrawalId,
  ]);
  return lock?.locked === true;
}

/** It gets no transaction. What is refused already stays as it is. */
export async function refuseRequest(manager: EntityManager, withdrawalId: string, reason: string): Promise<void> {
  await manager.query('update settler_withdrawals set refused = $2 where withdrawal_id = $1 and refused is null', [
    withdrawalId,
    reason,
  ]);
}
