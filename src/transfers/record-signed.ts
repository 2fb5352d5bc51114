import type { SignedAttempt } from '../messages/transfer';
import { inTransaction } from '../platform/database';
import { changeState, isEnded, findTransactionForUpdate } from '../transactions/state';
import { loadAttempts } from './attempts';
import type { TransferDependencies } from './dependencies';
import { markBroadcast, storeSigned } from './store-attempt';

/**
 * Joins bytes and signatures and stores them with their id, before anything is broadcast. The first signatures stay:
 * a second call answers with the id that is on record.
 * @throws Error when the signatures are not of the attempt's signers.
 */
export function recordSigned(
  { database, registry, getFamily }: TransferDependencies,
  { txId, attempt: number, signatures }: SignedAttempt,
): Promise<{ hash: string }> {
  return inTransaction(database, async (manager) => {
    const transfer = await findTransactionForUpdate(manager, txId);
    const { signed, unsigned } = (await loadAttempts(manager, txId)).get(number);
    if (signed) return { hash: signed.id };
    const family = getFamily(registry.get(transfer.chain).family);
    const { id, bytes } = family.assemble(unsigned, signatures, transfer.fromAddress);
    await storeSigned(manager, { txId, attempt: number, id, bytes });
    return { hash: id };
  });
}

/** A chain node has accepted the attempt: SUBMITTED, shown by its hash. An ended transfer stays as it is. */
export function markSubmitted(
  { database }: TransferDependencies,
  { txId, attempt: number }: { txId: string; attempt: number },
): Promise<{ status: string }> {
  return inTransaction(database, async (manager) => {
    const transfer = await findTransactionForUpdate(manager, txId);
    const { signed } = (await loadAttempts(manager, txId)).getSigned(number);
    await markBroadcast(manager, txId, number);
    if (isEnded(transfer)) return { status: transfer.status };
    if (transfer.status === 'SUBMITTED') {
      await manager.query('update transactions set tx_hash = $2 where tx_id = $1', [txId, signed.id]);
    } else {
      await changeState(manager, transfer, 'SUBMITTED', { txHash: signed.id, failureCode: null, failureMessage: null });
    }
    return { status: 'SUBMITTED' };
  });
}
