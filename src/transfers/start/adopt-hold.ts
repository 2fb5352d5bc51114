import type { AdoptedHold, HeldTransfer } from '../../messages/transfer';
import type { TransactionEntity } from '../../transactions/entity';
import { rulesOf } from '../../transactions/signed-type';
import { findTransaction, isEnded } from '../../transactions/state';
import { loadAttempts } from '../load-attempts';
import type { TransferDependencies } from '../dependencies';
import { toEnd } from '../end/end';

type Adopting = Pick<TransferDependencies, 'database' | 'registry' | 'getFamily' | 'getSignedType'>;

/**
 * What the workflow of a transfer needs at its start, whether it is the first run or one that an operator has started again: the
 * held funds and the state of the attempts, or the end of the transfer.
 * @throws GatewayError not_found.
 */
export async function adoptHold(deps: Adopting, { txId }: { txId: string }): Promise<AdoptedHold> {
  // row and hold are committed together, so a row that is visible here has its hold
  const transfer = await findTransaction(deps.database.manager, txId);
  if (!transfer.isSigned) throw new Error(`transaction ${txId} is not signed: it has no workflow`);
  if (isEnded(transfer)) return { outcome: 'ended', ...toEnd(transfer) };
  return { outcome: 'held', transfer: await toHeld(deps, transfer) };
}

/** What its workflow needs of a signed transaction. */
export async function toHeld(
  { database: { manager }, registry, getFamily, getSignedType }: Adopting,
  transfer: TransactionEntity,
): Promise<HeldTransfer> {
  const chain = registry.get(transfer.chain);
  const attempts = await loadAttempts(manager, transfer.txId);
  const type = getSignedType(transfer.transactionType);
  const timeLeftMs = await type.timeLeft(manager, transfer);
  const needsSponsoring = transfer.signingBegunAt === null && (await type.needsSponsoring?.(manager, transfer));
  return {
    chain: chain.name,
    requiredConfirmations: transfer.requiredConfirmations,
    stuckAfterMs: chain.stuckAfterMs,
    blockTimeMs: chain.blockTimeMs,
    ...(chain.headLag !== undefined && { headLag: chain.headLag }),
    explorerTx: chain.explorerTx,
    rules: rulesOf(type, getFamily(chain.family)),
    lastAttempt: attempts.last?.attempt ?? 0,
    isAbandoned: attempts.isAbandoned,
    isFollowed: attempts.isFollowed,
    isUnsigned: attempts.last !== undefined && attempts.last.signed === null,
    ...(timeLeftMs !== null && { timeLeftMs }),
    ...(needsSponsoring && { needsSponsoring: true as const }),
  };
}
