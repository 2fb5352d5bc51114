import type { EntityManager } from 'typeorm';
import type { AttemptSignatures, Broadcast, BroadcastResult } from '../../messages/transfer';
import { inTransaction } from '../../platform/database';
import { isBlacklisted } from '../../screening/destinations';
import type { TransactionEntity } from '../../transactions/entity';
import { findTransaction, findTransactionForUpdate, isEnded } from '../../transactions/state';
import type { Attempt, Attempts, SignedAttempt } from '../attempts';
import { getClient, type ObserveDependencies, type TransferDependencies } from '../dependencies';
import { toDestination } from '../destination';
import { loadAttempts } from '../load-attempts';
import { enterSubmitted, markSubmitted, recordSigned } from '../sign/record-signed';
import { markBroadcast } from '../sign/store-attempt';
import { sendAttempt } from './send-attempt';
import type { UnknownRefusals } from './unknown-refusal';

export type BroadcastDependencies = ObserveDependencies &
  Pick<TransferDependencies, 'getFamily'> & { unknownRefusals: UnknownRefusals };

/** What is sent, unless the result says why nothing is. */
type Found = { outcome: 'signed'; transfer: TransactionEntity; signed: SignedAttempt['signed'] } | BroadcastResult;

/**
 * Stores what nodes have signed, sends the stored bytes, the only thing that is ever sent, and makes the transfer SUBMITTED. Each of
 * the three is committed before the next begins, so it is safe to repeat wherever it was interrupted. What is handed out is there for
 * its client from now on. An abandoned transfer is not sent, nor one that has never been sent and whose destination is blacklisted.
 * @throws GatewayError invalid_signature when the signatures are not of the attempt's signers: nothing is stored, and another pair of
 * nodes has to sign; chain_unavailable when no node responded: one may have accepted the bytes, and they are sent again.
 */
export async function broadcastAttempt(
  deps: BroadcastDependencies,
  { txId, attempt, signed: signatures }: Broadcast,
): Promise<BroadcastResult> {
  const { manager } = deps.database;
  const found = signatures
    ? await inTransaction(deps.database, (locked) => record(deps, locked, { txId, attempt, ...signatures }))
    : await findStored(deps, { txId, attempt });
  if (found.outcome !== 'signed') return found;
  const { transfer, signed } = found;
  const answered = await sendAttempt(manager, getClient(deps, transfer.chain), txId, { attempt, signed });
  const sent = deps.unknownRefusals.limit(transfer, attempt, answered);
  if (sent.outcome !== 'accepted') return sent;
  const { status } = await markSubmitted(deps, transfer, { attempt, id: signed.id });
  return { outcome: 'accepted', hash: signed.id, status };
}

async function record(
  deps: BroadcastDependencies,
  manager: EntityManager,
  { txId, attempt: number, ...signatures }: Pick<Broadcast, 'txId' | 'attempt'> & AttemptSignatures,
): Promise<Found> {
  const transfer = await findTransactionForUpdate(manager, txId);
  const attempts = await loadAttempts(manager, txId);
  const attempt = attempts.get(number);
  const family = deps.getFamily(getClient(deps, transfer.chain).chain.family);
  const signed = await recordSigned(manager, { ...deps, family }, transfer, attempt, signatures);
  return handOut(deps, manager, await judge(manager, transfer, attempts, { ...attempt, signed }), number);
}

async function findStored(deps: BroadcastDependencies, { txId, attempt }: Pick<Broadcast, 'txId' | 'attempt'>): Promise<Found> {
  const { manager } = deps.database;
  const transfer = await findTransaction(manager, txId);
  if (deps.getSignedType(transfer.transactionType).isHandedOut)
    return inTransaction(deps.database, async (locked) => {
      const current = await findTransactionForUpdate(locked, txId);
      return handOut(deps, locked, await judgeStored(locked, current, attempt), attempt);
    });
  return judgeStored(manager, transfer, attempt);
}

async function judgeStored(manager: EntityManager, transfer: TransactionEntity, attempt: number): Promise<Found> {
  const attempts = await loadAttempts(manager, transfer.txId);
  return judge(manager, transfer, attempts, attempts.get(attempt));
}

/** What is not sent by the gateway is its client's from here on, unless it has ended: in the transaction that has judged it. */
async function handOut(deps: BroadcastDependencies, manager: EntityManager, found: Found, attempt: number): Promise<Found> {
  if (found.outcome !== 'signed' || !deps.getSignedType(found.transfer.transactionType).isHandedOut) return found;
  const { transfer, signed } = found;
  if (isEnded(transfer)) return { outcome: 'accepted', hash: signed.id, status: transfer.status };
  await markBroadcast(manager, transfer.txId, attempt);
  await enterSubmitted(manager, deps, transfer, { attempt, id: signed.id });
  return { outcome: 'accepted', hash: signed.id, status: 'SUBMITTED' };
}

async function judge(
  manager: EntityManager,
  transfer: TransactionEntity,
  { isAbandoned }: Attempts,
  { kind, signed, isBroadcast, inclusion }: Attempt,
): Promise<Found> {
  if (kind !== 'cancellation') {
    if (isAbandoned) return { outcome: 'withheld' };
    if (!isBroadcast && !inclusion && (await isBlacklisted(manager, toDestination(transfer)))) return { outcome: 'blacklisted' };
  }
  return signed ? { outcome: 'signed', transfer, signed } : { outcome: 'unsigned', kind };
}
