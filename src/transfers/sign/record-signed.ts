import type { EntityManager } from 'typeorm';
import type { Family } from '../../chains/family';
import type { Hex } from '../../chains/types';
import type { AttemptSignatures } from '../../messages/transfer';
import { inTransaction } from '../../platform/database';
import { GatewayError } from '../../platform/errors';
import type { TransactionEntity } from '../../transactions/entity';
import { getSender } from '../../transactions/intent';
import { changeState, changeStateAt, isEnded, findTransactionForUpdate } from '../../transactions/state';
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

/** What a chain node has accepted, or somebody else is given to send. */
interface Submitted {
  attempt: number;
  /** Of the signed bytes. */
  id: string;
}

/**
 * A chain node has accepted the attempt: SUBMITTED, with its id. `sent`: the transfer when it was sent. One that has gone on since, as
 * by an answer that came after this one's time was over, keeps its state, and so does an ended one.
 */
export async function markSubmitted(
  deps: Pick<TransferDependencies, 'database' | 'getSignedType'>,
  sent: TransactionEntity,
  submitted: Submitted,
): Promise<{ status: string }> {
  const { manager: unlocked } = deps.database;
  const { txId, version } = sent;
  // committed first: from now on it may be executed, whatever becomes of the rest
  await markBroadcast(unlocked, txId, submitted.attempt);
  // one statement on the usual way: the version says that nothing has changed since
  if (
    !isEnded(sent) &&
    sent.status !== 'SUBMITTED' &&
    (await changeStateAt(unlocked, sent, ...toSubmitted(deps, sent, submitted)))
  )
    return { status: 'SUBMITTED' };
  return inTransaction(deps.database, async (manager) => {
    const transfer = await findTransactionForUpdate(manager, txId);
    if (isEnded(transfer) || transfer.version !== version) return { status: transfer.status };
    await enterSubmitted(manager, deps, transfer, submitted);
    return { status: 'SUBMITTED' };
  });
}

/** Under the lock of a transaction that has not ended. What is handed out gets an id from whoever sends it. */
export async function enterSubmitted(
  manager: EntityManager,
  deps: Pick<TransferDependencies, 'getSignedType'>,
  transfer: TransactionEntity,
  submitted: Submitted,
): Promise<void> {
  const { txId, status } = transfer;
  const [state, changes] = toSubmitted(deps, transfer, submitted);
  if (status !== state) {
    await changeState(manager, transfer, state, changes);
    return;
  }
  await manager.query(
    `update transactions set tx_hash = $2 where tx_id = $1
        and not exists (select from transfer_attempts where tx_id = $1 and attempt > $3 and broadcast_at is not null)`,
    [txId, changes.txHash, submitted.attempt],
  );
}

const toSubmitted = (
  { getSignedType }: Pick<TransferDependencies, 'getSignedType'>,
  { transactionType }: TransactionEntity,
  { id }: Submitted,
) => {
  const txHash = getSignedType(transactionType).isHandedOut ? null : id;
  return ['SUBMITTED', { txHash, failureCode: null, failureMessage: null }] as const;
};
