import type { EntityManager } from 'typeorm';
import type { ChainDefinition } from '../../chains/types';
import { endpointsNeeded, isDone } from '../../following/depth';
import type { AlertName } from '../../platform/alert-names';
import type { Logger } from '../../platform/logging';
import type { TransactionEntity } from '../../transactions/entity';
import type { Inclusion } from '../attempts';
import { findHeldAccountsForUpdate } from '../hold';

const alert: AlertName = 'transfer_executed_twice';

/** A proof of impossibility was false. What is told to the operator names every transaction of the chain. */
export const toTwiceReason = (inclusions: readonly Inclusion[]): string =>
  `${inclusions.length === 2 ? 'Two' : inclusions.length} attempts are included: ${inclusions.map(({ hash }) => hash).join(', ')}`;

/**
 * Whether what the chain has done is booked now: an operator was told of just these transactions before, each of them is in a block that is
 * final, and the endpoints have shown of each what is asked of one that is included alone.
 */
export function mayBeBooked(transfer: TransactionEntity, inclusions: readonly Inclusion[], chain: ChainDefinition): boolean {
  const isTold = transfer.status === 'NEEDS_ATTENTION' && transfer.failureMessage === toTwiceReason(inclusions);
  const needed = BigInt(Math.max(transfer.requiredConfirmations, chain.finalityDepth));
  return isTold && inclusions.every((one) => one.depth >= needed && (one.agreedBy ?? 0) >= endpointsNeeded(transfer, one));
}

/** The one that names the end, with what all of them have cost: what has moved is done, whatever another one did. */
export function combine(transfer: TransactionEntity, inclusions: readonly [Inclusion, ...Inclusion[]]): Inclusion {
  const named = inclusions.find((one) => isDone(transfer, one)) ?? inclusions[0];
  return { ...named, fee: inclusions.reduce((sum, { fee }) => sum + fee, 0n) };
}

/**
 * Notes with the others that the end has posted them too. Nothing leaves the account before an operator has examined why both could be executed:
 * it is frozen.
 */
export async function noteBooked(
  manager: EntityManager,
  transfer: TransactionEntity,
  { named, inclusions }: { named: Inclusion; inclusions: readonly Inclusion[] },
  log: Pick<Logger, 'error'>,
): Promise<void> {
  const { txId, chain } = transfer;
  const others = inclusions.flatMap(({ hash }) => (hash === named.hash ? [] : [hash]));
  await manager.query('update transfer_attempts set is_booked = true where tx_id = $1 and included_id = any($2::text[])', [
    txId,
    others,
  ]);
  if (transfer.isHeld) {
    const { token, native } = await findHeldAccountsForUpdate(manager, transfer);
    await manager.query(
      'update ledger_accounts set frozen_reason = coalesce(frozen_reason, $2) where ledger_account_id = any($1::uuid[])',
      [[token.ledgerAccountId, native.ledgerAccountId], `transfer ${txId} was executed twice`],
    );
  }
  log.error({ alert, tx_id: txId, chain }, `${toTwiceReason(inclusions)}; all of them are booked`);
}

/** Before an operator is told. */
export const alarmTwice = (log: Pick<Logger, 'error'>, { txId, chain }: TransactionEntity, reason: string): void =>
  log.error({ alert, tx_id: txId, chain }, reason);
