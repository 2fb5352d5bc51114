import type { EntityManager } from 'typeorm';
import type { ChainDefinition } from '../chains/types';
import type { AdoptedHold, NotCancelled } from '../messages/transfer';
import { findTransaction } from '../transactions/state';
import type { TransferDependencies } from './dependencies';
import { toEnd } from './end/end';
import { toHeld } from './start/adopt-hold';

/**
 * A transaction that has failed in a final block which the chain has taken back. It stays FAILED, and what was refunded stays so: its own bytes
 * are never sent again. Its nonce is unused, and keeps later ones of the sender waiting: a cancellation, which moves nothing, uses it up.
 */

/** Whether a transaction is such a one, as the rows say (migration 0076). */
export async function isReopened(manager: EntityManager, txId: string): Promise<boolean> {
  const [row] = await manager.query<unknown[]>('select from transactions t where tx_id = $1 and is_reopened(t)', [txId]);
  return row !== undefined;
}

/** SQL: a scanned block holds a transaction that is no attempt and has used up the ordinal of transaction `t`. */
const isUsedElsewhere = `exists (
  select from reservations r join foreign_transactions f on (f.chain, f.owner, f.ordinal) = (r.chain, r.owner, r.ordinal) where r.tx_id = t.tx_id)`;

/** Whether it is such a one, and its ordinal is used up by what is none of its attempts: to be verified at the chain. */
export async function isOrdinalUsedElsewhere(manager: EntityManager, txId: string): Promise<boolean> {
  const [row] = await manager.query<unknown[]>(
    `select from transactions t where tx_id = $1 and is_reopened(t) and ${isUsedElsewhere}`,
    [txId],
  );
  return row !== undefined;
}

/**
 * Whether a cancellation of it is to be ordered now: the follower has read the chain again up to where its block was, without finding it, nor
 * another transaction with its ordinal, and no cancellation is on its way that had less than the chain's time to be included.
 */
export async function isCancellationDue(manager: EntityManager, chain: ChainDefinition, txId: string): Promise<boolean> {
  const [row] = await manager.query<unknown[]>(
    `select from transactions t join chain_cursors c on c.chain = t.chain and c.next_block > t.block_number
      where t.tx_id = $1 and is_reopened(t) and not ${isUsedElsewhere} and not exists (
        select from transfer_attempts a where a.tx_id = t.tx_id and a.kind = 'cancellation' and a.signed is not null
           and a.signing_begun_at > clock_timestamp() - make_interval(secs => $2))`,
    [txId, chain.stuckAfterMs / 1000],
  );
  return row !== undefined;
}

/**
 * What the workflow needs that has it cancelled; its end, where none is due.
 * @throws GatewayError not_found.
 */
export async function adoptReopened(
  deps: Pick<TransferDependencies, 'database' | 'registry' | 'getFamily' | 'getSignedType'>,
  { txId }: { txId: string },
): Promise<AdoptedHold> {
  const { manager } = deps.database;
  const transfer = await findTransaction(manager, txId);
  if (!(await isCancellationDue(manager, deps.registry.get(transfer.chain), txId)))
    return { outcome: 'ended', ...toEnd(transfer) };
  return { outcome: 'held', transfer: await toHeld(deps, transfer) };
}

/** Until it is cancelled, later transfers of the account wait. */
export function reportNotCancelled(
  { log }: Pick<TransferDependencies, 'log'>,
  { txId, chain, code, reason }: NotCancelled,
): Promise<void> {
  log.error({ alert: 'reopened_not_cancelled', tx_id: txId, chain, code }, reason);
  return Promise.resolve();
}
