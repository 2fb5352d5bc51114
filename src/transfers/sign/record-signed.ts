import type { EntityManager } from 'typeorm';
import type { Family } from '../../chains/family';
import type { Hex } from '../../chains/types';
import type { AttemptSignatures } from '../../messages/transfer';
import { inTransaction } from '../../platform/database';
import { GatewayError } from '../../platform/errors';
import type { TransactionEntity } from '../../transactions/entity';
import { getSender } from '../../transactions/intent';
import { changeState, isEnded, findTransactionForUpdate } from '../../transactions/state';
import type { Attempt, SignedAttempt } from '../attempts';
import type { TransferDependencies } from '../dependencies';
import { auditRefusedBefore, auditSigned } from './signing-audit';
import { markBroadcast, storeSigned } from './store-attempt';

type Recording = Pick<TransferDependencies, 'getSignedType'> & { family: Family };

/**
 * Joins bytes and signatures and stores them with their id; call it under the lock of the transaction, which has to be committed before
 * anything is broadcast. The first signatures are kept: a second call returns what is stored.
 * @throws GatewayError invalid_signature when they are not of the attempt's signers: another pair of nodes has to sign.
 */
export async function recordSigned(
  manager: EntityManager,
  { family, getSignedType }: Recording,
  transfer: TransactionEntity,
  { attempt, kind, signed, unsigned }: Attempt,
  { signatures, problems = [] }: AttemptSignatures,
): Promise<SignedAttempt['signed']> {
  if (signed) return signed;
  const { txId } = transfer;
  const { id, bytes } = assemble(family, unsigned, signatures, getSender(transfer));
  await storeSigned(manager, { txId, attempt, id, bytes });
  await auditRefusedBefore(manager, transfer, { attempt, problems });
  const isSent = !getSignedType(transfer.transactionType).isHandedOut;
  await auditSigned(manager, transfer, { attempt, kind, tx_hash: isSent ? id : null });
  return { id, bytes };
}

function assemble(family: Family, unsigned: Hex, signatures: Hex[], from: string): ReturnType<Family['assemble']> {
  try {
    return family.assemble(unsigned, signatures, from);
  } catch (error) {
    throw new GatewayError('invalid_signature', error instanceof Error ? error.message : 'the signature is not valid');
  }
}

/**
 * A chain node has accepted the attempt: SUBMITTED, with its id. What is handed out gets one from whoever sends it. An ended transfer
 * stays as it is.
 */
export function markSubmitted(
  { database, getSignedType }: Pick<TransferDependencies, 'database' | 'getSignedType'>,
  { txId, attempt, id }: { txId: string; attempt: number; id: string },
): Promise<{ status: string }> {
  return inTransaction(database, async (manager) => {
    const transfer = await findTransactionForUpdate(manager, txId);
    await markBroadcast(manager, txId, attempt);
    if (isEnded(transfer)) return { status: transfer.status };
    const txHash = getSignedType(transfer.transactionType).isHandedOut ? null : id;
    if (transfer.status === 'SUBMITTED') {
      await manager.query('update transactions set tx_hash = $2 where tx_id = $1', [txId, txHash]);
    } else {
      await changeState(manager, transfer, 'SUBMITTED', { txHash, failureCode: null, failureMessage: null });
    }
    return { status: 'SUBMITTED' };
  });
}
