import type { Hex } from '../chains/types';
import type { SignedAttempt } from '../messages/transfer';
import { inTransaction } from '../platform/database';
import { changeState, isEnded, findTransactionForUpdate } from '../transactions/state';
import { getAttempt } from './attempts';
import type { StepDependencies } from './dependencies';

/**
 * Joins bytes and signatures and stores them with their hash, before anything is broadcast. The first signatures stay:
 * a second call answers with the hash that is on record.
 * @throws Error when the signatures do not recover to the transfer's address.
 */
export function recordSigned(
  { database, registry, getAdapter }: StepDependencies,
  { txId, attempt: number, signatures }: SignedAttempt,
): Promise<{ hash: Hex }> {
  return inTransaction(database, async (manager) => {
    const transfer = await findTransactionForUpdate(manager, txId);
    const attempt = await getAttempt(manager, txId, number);
    if (attempt.hash) return { hash: attempt.hash };
    const { hash, bytes } = getAdapter(registry.get(transfer.chain).family).assemble(
      attempt.unsigned,
      signatures,
      transfer.fromAddress,
    );
    await manager.query(
      'update transfer_attempts set tx_hash = $3, signed = $4, signed_at = clock_timestamp() where tx_id = $1 and attempt = $2',
      [txId, number, hash, bytes],
    );
    return { hash };
  });
}

/** A chain node has accepted the attempt: SUBMITTED, shown by its hash. An ended transfer stays as it is. */
export function markSubmitted(
  { database }: StepDependencies,
  { txId, attempt: number }: { txId: string; attempt: number },
): Promise<{ status: string }> {
  return inTransaction(database, async (manager) => {
    const transfer = await findTransactionForUpdate(manager, txId);
    const attempt = await getAttempt(manager, txId, number);
    if (!attempt.hash) throw new Error(`attempt ${number} of ${txId} is not signed and cannot have been broadcast`);
    await manager.query(
      'update transfer_attempts set broadcast_at = clock_timestamp() where tx_id = $1 and attempt = $2 and broadcast_at is null',
      [txId, number],
    );
    if (isEnded(transfer)) return { status: transfer.status };
    if (transfer.status === 'SUBMITTED') {
      await manager.query('update transactions set tx_hash = $2 where tx_id = $1', [txId, attempt.hash]);
    } else {
      await changeState(manager, transfer, 'SUBMITTED', { txHash: attempt.hash, failureCode: null, failureMessage: null });
    }
    return { status: 'SUBMITTED' };
  });
}
