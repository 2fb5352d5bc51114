import type { EntityManager } from 'typeorm';
import type { ScreeningVerdict } from '../../messages/transfer';
import { inTransaction } from '../../platform/database';
import { notFound } from '../../platform/errors';
import { type DestinationVerdict, evaluateDestination } from '../../screening/destinations';
import { checkRules } from '../../screening/rules';
import { TransactionEntity } from '../../transactions/entity';
import { changeState, isEnded, findTransactionForUpdate } from '../../transactions/state';
import { approvalExpired, awaitApproval } from './await-approval';
import type { TransferDependencies } from '../dependencies';
import { toDestination, toScreened } from '../destination';
import { recordRefusal } from '../end/refusals';

type Screening = Pick<TransferDependencies, 'database' | 'approvalWaitSeconds'>;

/**
 * Applies every rule to a locked transfer. One that needs an approval is AWAITING_APPROVAL until it is approved, for a limited time
 * that begins with the first call. One that has ended or begun signing is not screened: the next step finds its state. A refusal is
 * recorded, and ends the transfer in the next step.
 * @throws GatewayError not_found.
 */
export async function screenTransfer(deps: Screening, { txId }: { txId: string }): Promise<ScreeningVerdict> {
  const verdict = await applyRules(deps, txId);
  if (verdict.outcome !== 'refused') return verdict;
  const { code, reason } = verdict;
  await recordRefusal(deps.database.manager, { txId, attempt: 1 }, { kind: 'rule', code, reason });
  return verdict;
}

async function applyRules(deps: Screening, txId: string): Promise<ScreeningVerdict> {
  const { database } = deps;
  const transfer = await database.manager.findOneBy(TransactionEntity, { txId, isSigned: true });
  if (!transfer) throw notFound('transaction');
  // what spends nothing of its client is judged by the authoriser alone, by the rules of its type
  if (isPast(transfer) || !transfer.isHeld) return { outcome: 'allowed' };
  const verdict = await checkRules(database.manager, toScreened(transfer));
  if (!verdict.allowed) return { outcome: 'refused', code: verdict.code, reason: verdict.reason };
  // what moves nothing has no destination
  if (transfer.amount === 0n) return { outcome: 'allowed' };
  // nothing has to be written: only what waits, or will have to, is locked
  const waits = transfer.status === 'AWAITING_APPROVAL';
  if (!waits && (await evaluate(database.manager, transfer)).outcome === 'allowed') return { outcome: 'allowed' };
  return inTransaction(database, (manager) => screenDestination(deps, manager, txId));
}

async function screenDestination(
  { approvalWaitSeconds }: Screening,
  manager: EntityManager,
  txId: string,
): Promise<ScreeningVerdict> {
  const transfer = await findTransactionForUpdate(manager, txId);
  if (isPast(transfer)) return { outcome: 'allowed' };
  const verdict = await evaluate(manager, transfer);
  if (verdict.outcome === 'refused') return verdict;

  const waits = transfer.status === 'AWAITING_APPROVAL';
  const waitMs = waits ? await approvalLeft(manager, txId) : approvalWaitSeconds * 1000;
  if (waitMs <= 0) return { outcome: 'refused', ...approvalExpired };
  if (verdict.outcome === 'allowed') {
    // the policy or the whitelist has changed meanwhile
    if (waits) await changeState(manager, transfer, 'PENDING');
    return { outcome: 'allowed' };
  }
  if (!waits) await awaitApproval(manager, await returnToPending(manager, transfer), approvalWaitSeconds);
  return { outcome: 'awaiting_approval', waitMs };
}

const evaluate = (manager: EntityManager, transfer: TransactionEntity): Promise<DestinationVerdict> =>
  evaluateDestination(manager, toDestination(transfer), { approved: transfer.approvedAt !== null });

const isPast = (transfer: TransactionEntity): boolean => isEnded(transfer) || transfer.signingBegunAt !== null;

/** Milliseconds, by the clock of the database, which also checks approvals. */
async function approvalLeft(manager: EntityManager, txId: string): Promise<number> {
  const [row] = await manager.query<{ left: number }[]>(
    `select ceil(extract(epoch from approval_expires_at - clock_timestamp()) * 1000)::float8 as left from transactions where tx_id = $1`,
    [txId],
  );
  return row?.left ?? 0;
}

/** A parked transfer returns to PENDING first. */
async function returnToPending(
  manager: EntityManager,
  transfer: TransactionEntity,
): Promise<Pick<TransactionEntity, 'txId' | 'version'>> {
  if (transfer.status === 'PENDING') return transfer;
  return { txId: transfer.txId, version: await changeState(manager, transfer, 'PENDING', unfailed) };
}

const unfailed = { failureCode: null, failureMessage: null };
