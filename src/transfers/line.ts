import type { EntityManager } from 'typeorm';
import { timedTypes } from '../transactions/types';

/**
 * The line of a sender: its transactions in the order of their ordinals, on chains that execute them in that order. What has no ordinal
 * is in no line.
 */

/** No block holds an attempt of transaction `t`, and a block may. */
const isUnexecuted = `not exists (select from transfer_attempts a where a.tx_id = t.tx_id and a.block_number is not null)
   and exists (select from transfer_attempts a where a.tx_id = t.tx_id and not is_proven_impossible(a))`;
/** The chain may still execute transaction `t`, and has not. */
const mayBeExecuted = `t.ended_at is null and ${isUnexecuted}`;
/** Also where it has executed `t`, which has ended by that, and has taken the block back: the ordinal is unused again. */
const isToBeExecuted = `(t.ended_at is null or t.block_hash is not null and t.finalized_at is null) and ${isUnexecuted}`;

/** Transaction `t` waits for its operator for ever. */
const isUntimed = `t.transaction_type not in (${timedTypes.map((type) => `'${type}'`).join(', ')})`;

/** Accounts, with their chains, of which nothing with an ordinal is begun: see findParkedBefore. */
export const accountsBehindParked = `select t.account_id, t.chain from chain_cursors c
   join transactions t on t.chain = c.chain and t.status = 'NEEDS_ATTENTION' and ${mayBeExecuted}
  where t.account_id is not null and ${isUntimed}
    and exists (select from reservations r where r.tx_id = t.tx_id and r.ordinal is not null)`;

/** Whose line it is. */
export interface LinePlace {
  /** null: of a sender that is no account of a client. */
  account_id: string | null;
  chain: string;
}

/** Few: each has a transaction that waits for an operator. */
export const findAccountsBehindParked = (manager: EntityManager): Promise<LinePlace[]> =>
  manager.query<LinePlace[]>(`select distinct account_id, chain from (${accountsBehindParked}) behind`);

interface Sender {
  chain: string;
  /** Canonical form of its address. */
  addressKey: string;
}

/**
 * A transaction of the sender that waits for an operator and keeps all later ones from being executed; undefined: there is none. One that
 * is abandoned by time is none: its ordinal is used up then, whatever an operator does.
 */
export async function findParkedBefore(manager: EntityManager, { chain, addressKey }: Sender): Promise<string | undefined> {
  const [row] = await manager.query<{ tx_id: string }[]>(
    `select t.tx_id from transactions t join reservations r on r.tx_id = t.tx_id and r.ordinal is not null and r.owner = $2
      where t.chain = $1 and t.status = 'NEEDS_ATTENTION' and ${isUntimed} and ${mayBeExecuted} order by r.ordinal limit 1`,
    [chain, addressKey],
  );
  return row?.tx_id;
}

/**
 * The transaction directly in front of this one, if the chain has not executed it yet and still may, or has taken back the block by which it
 * had ended: nothing behind it is executed before.
 * undefined: this one is the head of its sender's line, or in none.
 */
export async function findUnexecutedBefore(manager: EntityManager, txId: string): Promise<string | undefined> {
  const [row] = await manager.query<{ tx_id: string }[]>(
    `select t.tx_id
       from reservations own
       join lateral (select b.tx_id from reservations b
                      where b.chain = own.chain and b.owner = own.owner and b.ordinal is not null and b.ordinal < own.ordinal
                      order by b.ordinal desc limit 1) before on true
       join transactions t on t.tx_id = before.tx_id
      where own.tx_id = $1 and own.ordinal is not null and ${isToBeExecuted}`,
    [txId],
  );
  return row?.tx_id;
}
