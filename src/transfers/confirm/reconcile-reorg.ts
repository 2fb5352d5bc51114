import type { DataSource, EntityManager } from 'typeorm';
import type { AlertLog } from '../../ledger/accounts';
import { adjustFee } from '../../ledger/adjust-fee';
import { findPosted } from '../../ledger/posted';
import { endpointsNeeded, isDone } from '../../following/depth';
import type { Alarms } from '../../platform/alarms';
import { inTransaction } from '../../platform/database';
import { correctGas } from '../../settlers/correct-gas';
import type { TransactionEntity } from '../../transactions/entity';
import type { GetSignedType } from '../../transactions/signed-type';
import { findTransaction, findTransactionForUpdate } from '../../transactions/state';
import type { ChainClient } from '../../chains/chain-client';
import type { Logger } from '../../platform/logging';
import type { Inclusion } from '../attempts';
import { loadAttempts } from '../load-attempts';
import type { ObserveDependencies, TransferDependencies } from '../dependencies';
import { noteIfBlacklisted } from '../destination';
import { findHeldAccountsForUpdate } from '../hold';
import { agreeOnEnd } from './agree-on-end';
import { observeTransfer } from './observe';
import { sendAttempt } from '../broadcast/send-attempt';
import { debitedBy } from '../end/settle';
import { isCancellationDue } from '../reopened';
import { endIfUsedUp } from './used-up';

/**
 * `stands`: in a block again, and the ledger agrees; `absent`: in no block; `differs`: in a block with another effect than was
 * posted; `unagreed`: in a block with the same effect, which not every endpoint has shown as far as it has to.
 */
export type ReorgOutcome = 'stands' | 'absent' | 'differs' | 'unagreed';

/**
 * For a transfer that had ended and was reorganised away, or of which an attempt was executed that had been proven impossible.
 * Included again with the same effect, by any of its attempts, it is in its new block, and a fee that has changed is posted as
 * an adjustment. With another effect the ledger is wrong: the accounts are frozen, with an alert, until an operator has checked them.
 * What a settlement has cost its settler is corrected whatever the effect; in no block it has cost nothing.
 */
export function reconcileReorg(
  { database, log }: Pick<TransferDependencies, 'database' | 'log'>,
  { txId }: { txId: string },
): Promise<ReorgOutcome> {
  return inTransaction(database, async (manager) => {
    const transfer = await findTransactionForUpdate(manager, txId);
    const [inclusion, other] = (await loadAttempts(manager, txId)).inclusions;
    if (!transfer.isHeld && !other) await correctGas(manager, { txId, fee: inclusion?.fee ?? 0n }, log);
    if (!inclusion) return 'absent';
    if (!other && inclusion.blockHash === transfer.blockHash) return 'stands';
    const held = transfer.isHeld
      ? await findPosted(manager, { txId, symbol: transfer.tokenSymbol, feeSymbol: transfer.feeSymbol })
      : null;
    if (other || !isSameEnd(transfer, inclusion) || (held && debitedBy(transfer, inclusion) !== held.outside)) {
      await freeze(manager, transfer, log);
      return 'differs';
    }
    if ((inclusion.agreedBy ?? 0) < endpointsNeeded(transfer, inclusion)) return 'unagreed';
    if (held && inclusion.fee !== held.fees) {
      const { native } = await findHeldAccountsForUpdate(manager, transfer);
      await adjustFee(manager, { txId, native, more: inclusion.fee - held.fees }, log);
    }
    await manager.query(
      'update transactions set tx_hash = $2, block_number = $3, block_hash = $4, failure_message = $5 where tx_id = $1',
      [txId, inclusion.hash, inclusion.blockNumber.toString(), inclusion.blockHash, toFailureMessage(transfer, inclusion)],
    );
    return 'stands';
  });
}

/** The reason of an end names the transaction that has brought it about: another one is shown from now on. */
function toFailureMessage({ failureMessage }: TransactionEntity, { kind, hash }: Inclusion): string | null {
  if (failureMessage === null || kind !== 'cancellation' || failureMessage.includes(hash)) return failureMessage;
  return `${failureMessage}; after a reorganisation the cancellation ${hash} has taken its place`;
}

/** Ended by proof, a transfer has no block: no inclusion agrees with that. */
function isSameEnd(transfer: TransactionEntity, inclusion: Inclusion): boolean {
  const { isSigned, blockHash, status } = transfer;
  return isSigned && blockHash !== null && status === (isDone(transfer, inclusion) ? 'CONFIRMED' : 'FAILED');
}

export interface CorrectReorg {
  database: DataSource;
  client: ChainClient;
  getSignedType: GetSignedType;
  logger: Logger;
  /** They outlive a call: the follower calls it at every poll. */
  alarms: Alarms;
  /** Called while the transfer is in no block, or in one with another effect. */
  onConfirmedReorged: (txId: string) => Promise<void>;
  /** Starts the workflow that has a refunded transfer cancelled which is in no block any more. */
  cancelReopened: (txId: string) => Promise<unknown>;
}

/**
 * For an ended transfer that has lost its block: the executed bytes are sent again (the same resources, so money moves once), and
 * once they are included again the ledger is corrected. This also applies to an address that was blacklisted since, which is then
 * noted on the transfer. A reverted and refunded transfer is not sent again: it might succeed now. A cancellation of it is, or is made, so that
 * its nonce is used up, unless a transaction from elsewhere has done that. Safe to repeat; the follower does so until the transfer stands.
 */
export async function correctReorged(
  { onConfirmedReorged, cancelReopened, ...deps }: CorrectReorg,
  { txId }: { txId: string },
): Promise<void> {
  const { database, client, logger } = deps;
  let outcome = await reconcileReorg({ database, log: logger }, { txId });
  if (outcome === 'unagreed' && (await agreeAgain(deps, txId)))
    outcome = await reconcileReorg({ database, log: logger }, { txId });
  if (outcome === 'stands') {
    logger.info({ tx_id: txId }, 'the transfer was included again with the same effect');
    return;
  }
  if (outcome === 'absent') {
    if (await endIfUsedUp(toObserving(deps), txId)) return;
    await includeAgain(deps, txId);
    if (await isCancellationDue(database.manager, client.chain, txId)) await cancelReopened(txId);
  }
  await onConfirmedReorged(txId);
}

type Correcting = Omit<CorrectReorg, 'onConfirmedReorged' | 'cancelReopened'>;

const toObserving = ({ client, ...rest }: Correcting): ObserveDependencies => ({
  ...rest,
  clients: new Map([[client.chain.name, client]]),
});

/** Whether every endpoint shows that it has failed in its new block too. */
async function agreeAgain({ database, client, getSignedType, alarms }: Correcting, txId: string): Promise<boolean> {
  const { manager } = database;
  const transfer = await findTransaction(manager, txId);
  const intent = await getSignedType(transfer.transactionType).loadIntent(manager, transfer);
  const attempt = (await loadAttempts(manager, txId)).all.find(({ inclusion }) => inclusion);
  if (!attempt?.inclusion) return false;
  const { hash: id, blockNumber, ...effect } = attempt.inclusion;
  const included = { id, effect: { ...effect, blockNumber: Number(blockNumber) } };
  return agreeOnEnd({ database, alarms }, client, { transfer, intent, attempt }, included);
}

/** Whoever has sent what was handed out has its signature: only the chain knows what became of it. */
async function includeAgain(deps: Correcting, txId: string): Promise<void> {
  const { database, client, getSignedType, logger } = deps;
  const { transactionType, status } = await findTransaction(database.manager, txId);
  if (!getSignedType(transactionType).isHandedOut) return sendExecutedAgain(database.manager, { client, logger }, txId);
  if (status !== 'CONFIRMED') return;
  const { state } = await observeTransfer(toObserving(deps), { txId });
  if (state !== 'impossible') return;
  // it has not left the account after all
  await inTransaction(database, async (manager) => freeze(manager, await findTransactionForUpdate(manager, txId), logger));
}

async function sendExecutedAgain(
  manager: EntityManager,
  { client, logger }: Pick<CorrectReorg, 'client' | 'logger'>,
  txId: string,
): Promise<void> {
  const { status, txHash } = await findTransaction(manager, txId);
  const { signed } = await loadAttempts(manager, txId);
  // what was refunded is not paid all the same: a cancellation moves nothing, and uses up the nonce
  const again =
    status === 'CONFIRMED'
      ? signed.find(({ ids }) => txHash !== null && ids.includes(txHash))
      : signed.findLast(({ kind }) => kind === 'cancellation');
  if (!again) return;
  if (status === 'CONFIRMED') await noteIfBlacklisted(manager, txId);
  logger.warn({ tx_id: txId, ...(await sendAttempt(manager, client, txId, again)) }, 'sent again');
}

/** The accounts that the transfer has moved money of, with an alert. */
async function freeze(manager: EntityManager, transfer: TransactionEntity, log: AlertLog): Promise<void> {
  const reason = `transfer ${transfer.txId} ended as ${transfer.status}, but the chain shows another effect`;
  if (transfer.isHeld) {
    const { token, native } = await findHeldAccountsForUpdate(manager, transfer);
    await manager.query(
      'update ledger_accounts set frozen_reason = coalesce(frozen_reason, $2) where ledger_account_id = any($1::uuid[])',
      [[token.ledgerAccountId, native.ledgerAccountId], reason],
    );
  }
  log.error({ alert: 'ended_transfer_changed', tx_id: transfer.txId }, reason);
}
