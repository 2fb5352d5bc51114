import type { Family } from '../../chains/family';
import type { Hex } from '../../chains/types';
import type { SignedAttempt } from '../../messages/transfer';
import { inTransaction } from '../../platform/database';
import { GatewayError } from '../../platform/errors';
import { getSender } from '../../transactions/intent';
import { changeState, isEnded, findTransactionForUpdate } from '../../transactions/state';
import { loadAttempts } from '../load-attempts';
import type { TransferDependencies } from '../dependencies';
import { auditRefusedBefore, auditSigned } from './signing-audit';
import { markBroadcast, storeSigned } from './store-attempt';

/**
 * Joins bytes and signatures and stores them with their id, before anything is broadcast. The first signatures are kept: a second
 * call returns the stored id.
 * @throws GatewayError invalid_signature when they are not of the attempt's signers: another pair of nodes has to sign.
 */
export function recordSigned(
  { database, registry, getFamily, getSignedType }: TransferDependencies,
  { txId, attempt: number, signatures, problems = [] }: SignedAttempt,
): Promise<{ hash: string }> {
  return inTransaction(database, async (manager) => {
    const transfer = await findTransactionForUpdate(manager, txId);
    const { signed, unsigned, kind } = (await loadAttempts(manager, txId)).get(number);
    if (signed) return { hash: signed.id };
    const family = getFamily(registry.get(transfer.chain).family);
    const { id, bytes } = assemble(family, unsigned, signatures, getSender(transfer));
    await storeSigned(manager, { txId, attempt: number, id, bytes });
    await auditRefusedBefore(manager, transfer, { attempt: number, problems });
    const isSent = !getSignedType(transfer.transactionType).isHandedOut;
    await auditSigned(manager, transfer, { attempt: number, kind, tx_hash: isSent ? id : null });
    return { hash: id };
  });
}

function assemble(family: Family, unsigned: Hex, signatures: Hex[], from: string): ReturnType<Family['assemble']> {
  try {
    return family.assemble(unsigned, signatures, from);
  } catch (error) {
    throw new GatewayError('invalid_signature', error instanceof Error ? error.message : 'the signature is not valid');
  }
}

/**
 * A chain node has accepted the attempt: SUBMITTED, with its hash. What is handed out gets one from whoever sends it. An ended transfer
 * stays as it is.
 */
export function markSubmitted(
  { database, getSignedType }: Pick<TransferDependencies, 'database' | 'getSignedType'>,
  { txId, attempt: number }: { txId: string; attempt: number },
): Promise<{ status: string }> {
  return inTransaction(database, async (manager) => {
    const transfer = await findTransactionForUpdate(manager, txId);
    const { signed } = (await loadAttempts(manager, txId)).getSigned(number);
    await markBroadcast(manager, txId, number);
    if (isEnded(transfer)) return { status: transfer.status };
    const txHash = getSignedType(transfer.transactionType).isHandedOut ? null : signed.id;
    if (transfer.status === 'SUBMITTED') {
      await manager.query('update transactions set tx_hash = $2 where tx_id = $1', [txId, txHash]);
    } else {
      await changeState(manager, transfer, 'SUBMITTED', { txHash, failureCode: null, failureMessage: null });
    }
    return { status: 'SUBMITTED' };
  });
}
