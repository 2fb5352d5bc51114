import type { EntityManager } from 'typeorm';
import type { ChainDefinition } from '../../chains/types';
import { endpointsNeeded, isDone } from '../../following/depth';
import type { AlertName } from '../../platform/alert-names';
import type { Logger } from '../../platform/logging';
import type { TransactionEntity } from '../../transactions/entity';
import type { Inclusion } from '../attempts';
import { findHeldAccountsForUpdate } from '../hold';

const alert: AlertName = 'transfer_executed_twice';

/**
 * An attempt that may be executed beside these: it spends nothing that they spend, and is either in a block that does not count yet or, since
 * one of them was executed although it had been proven impossible, was issued on a false proof and is not proven impossible itself. null: none.
 */
export async function findCompetingAttempt(
  manager: EntityManager,
  txId: string,
  inclusions: readonly Inclusion[],
): Promise<number | null> {
  const [found] = await manager.query<{ attempt: number }[]>(
    `with included as (select * from transfer_attempts where tx_id = $1 and included_id = any($2::text[]))
     select b.attempt from transfer_attempts b
      where b.tx_id = $1 and coalesce(b.included_id <> all($2::text[]), true)
        and (b.block_number is not null
          or not is_proven_impossible(b) and exists (select from included i where i.impossible_proof is not null))
        and not exists (select from included i join attempt_reservations r on r.tx_id = i.tx_id and r.attempt = i.attempt
              join attempt_reservations o on o.tx_id = r.tx_id and o.reservation_id = r.reservation_id where o.attempt = b.attempt)
      order by b.attempt limit 1`,
    [txId, inclusions.map(({ hash }) => hash)],
  );
  return found?.attempt ?? null;
}

/** A proof of impossibility was false. What is told to the operator names every transaction of the chain. `competing`: see findCompetingAttempt. */
export function toTwiceReason(inclusions: readonly Inclusion[], competing: number | null): string {
  const hashes = inclusions.map(({ hash }) => hash).join(', ');
  const { length: count } = inclusions;
  const included = count === 1 ? 'An attempt is included' : `${count === 2 ? 'Two' : count} attempts are included`;
  return `${included}: ${hashes}${competing === null ? '' : `; attempt ${competing} may be executed too`}`;
}

/** The transfer is parked for just this reason. */
export const isTold = ({ status, failureMessage }: TransactionEntity, reason: string): boolean =>
  status === 'NEEDS_ATTENTION' && failureMessage === reason;

/**
 * Whether what the chain has done is booked now: just these transactions are on record as the reason for which the transfer is parked (the
 * operator was told, and its account is frozen), each of them is in a block that is final, and the endpoints have shown of each what is asked
 * of one that is included alone. Nobody has to agree: what is final is booked as the chain shows it.
 */
export function mayBeBooked(transfer: TransactionEntity, inclusions: readonly Inclusion[], chain: ChainDefinition): boolean {
  const needed = BigInt(Math.max(transfer.requiredConfirmations, chain.finalityDepth));
  return (
    isTold(transfer, toTwiceReason(inclusions, null)) &&
    inclusions.every((one) => one.depth >= needed && (one.agreedBy ?? 0) >= endpointsNeeded(transfer, one))
  );
}

/** The one that names the end, with what all of them have cost: what has moved is done, whatever another one did. */
export function combine(transfer: TransactionEntity, inclusions: readonly [Inclusion, ...Inclusion[]]): Inclusion {
  const named = inclusions.find((one) => isDone(transfer, one)) ?? inclusions[0];
  return { ...named, fee: inclusions.reduce((sum, { fee }) => sum + fee, 0n) };
}

/** Notes with the others that the end has posted them too; migrations/0102 takes it within the database transaction of that end alone. */
export async function noteBooked(
  manager: EntityManager,
  transfer: TransactionEntity,
  { named, inclusions }: { named: Inclusion; inclusions: readonly Inclusion[] },
  log: Pick<Logger, 'error'>,
): Promise<void> {
  const others = inclusions.flatMap(({ hash }) => (hash === named.hash ? [] : [hash]));
  await manager.query('update transfer_attempts set is_booked = true where tx_id = $1 and included_id = any($2::text[])', [
    transfer.txId,
    others,
  ]);
  alarmTwice(log, transfer, `${toTwiceReason(inclusions, null)}; all of them are booked`);
}

/**
 * Nothing leaves the account before an operator has examined why both could be executed. Call it before the transfer is parked: ledger accounts
 * are locked before the counters that a change of state writes. A settlement holds nothing, and its settler goes on.
 */
export async function freezeHeld(manager: EntityManager, transfer: TransactionEntity): Promise<void> {
  if (!transfer.isHeld) return;
  const { token, native } = await findHeldAccountsForUpdate(manager, transfer);
  await manager.query(
    'update ledger_accounts set frozen_reason = coalesce(frozen_reason, $2) where ledger_account_id = any($1::uuid[])',
    [[token.ledgerAccountId, native.ledgerAccountId], `transfer ${transfer.txId} may have been executed twice`],
  );
}

/** An operator is told of each step, once. */
export const alarmTwice = (log: Pick<Logger, 'error'>, { txId, chain }: TransactionEntity, reason: string): void =>
  log.error({ alert, tx_id: txId, chain }, reason);
