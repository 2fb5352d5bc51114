import type { EntityManager } from 'typeorm';
import type { ChainDefinition } from '../chains/types';
import { findLedgerAccountsForUpdate } from '../ledger/accounts';
import { postAdjustment } from '../ledger/adjustments';
import { giveBackTaken, takeFromOutside } from '../ledger/entries';

/** Outputs of the gateway's addresses that no attempt has spent: a key is known to somebody else, or orders are missing. */

/** Transactions that one range of blocks or one roll-back corrects; more are an attack on all keys, and wait for the next range. */
const limit = 500;

interface SpendRow {
  transaction: string;
  owner: string;
  amount: string;
  block_number: string;
  tx_id: string | null;
  ledger_account_id: string | null;
  /** What the house has paid for it. */
  lost: string;
}

const isAttempt = (chain: string, id: string): string =>
  `exists (select from transfer_attempts a where a.chain = ${chain} and a.message_key = ${id})`;

/**
 * Posts what the transactions of newly stored blocks have taken that no attempt explains, and freezes the ledger accounts. Call it in the
 * follower's database transaction, behind outputs, deposits and inclusions.
 */
export async function storeForeignSpends(
  manager: EntityManager,
  { name, family, native }: ChainDefinition,
  from: number,
  to: number,
): Promise<void> {
  await takeBack(manager, name, isAttempt('f.chain', 'f.transaction'), []);
  const found = await manager.query<SpendRow[]>(
    `select s.*, l.ledger_account_id, 0 as lost,
            (select t.tx_id from transactions t where t.account_id = a.account_id and t.chain = $1
              order by t.tx_hash is not distinct from s.made_by desc, t.tx_id desc limit 1) as tx_id
       from (select o.spent_by as transaction, o.owner, o.spent_block as block_number, min(o.made_by) as made_by,
                    sum(o.amount) - coalesce((select sum(c.amount) from chain_outputs c
                                               where (c.chain, c.made_by, c.owner) = ($1, o.spent_by, o.owner)), 0) as amount
               from chain_outputs o
              where o.chain = $1 and o.spent_block between $2 and $3 and not ${isAttempt('o.chain', 'o.spent_by')}
              group by o.spent_by, o.owner, o.spent_block) s
       join accounts a on a.family = $4 and a.address_key = s.owner
       left join ledger_accounts l on l.account_id = a.account_id and l.chain = $1 and l.symbol = $5
      where not exists (select from foreign_spends f where (f.chain, f.transaction, f.owner) = ($1, s.transaction, s.owner))
      order by s.block_number limit ${limit}`,
    [name, from, to, family, native.symbol],
  );
  for (const spend of found) await postTaken(manager, name, spend);
}

/** Forgets those in blocks from `from` on. Call it in the follower's database transaction. */
export const takeBackForeignSpends = (manager: EntityManager, chain: string, from: number): Promise<void> =>
  takeBack(manager, chain, 'f.block_number >= $2', [from]);

async function postTaken(
  manager: EntityManager,
  chain: string,
  { transaction, owner, amount, block_number: block, tx_id: txId, ledger_account_id: id }: SpendRow,
): Promise<void> {
  await manager.query(
    'insert into foreign_spends (chain, transaction, owner, amount, block_number, tx_id) values ($1, $2, $3, $4, $5, $6)',
    [chain, transaction, owner, amount, block, id === null ? null : txId],
  );
  if (txId === null || id === null) return;
  const account = (await findLedgerAccountsForUpdate(manager, [id])).get(id);
  if (!account) return;
  const outcome = takeFromOutside(account, BigInt(amount));
  // the shortfall is one of this account: the reason is the spend
  await manager.query('update ledger_accounts set frozen_reason = coalesce(frozen_reason, $2) where ledger_account_id = $1', [
    id,
    `transaction ${transaction} has spent outputs of the account, and is not one of the gateway`,
  ]);
  await postAdjustment(manager, txId, outcome);
}

async function takeBack(manager: EntityManager, chain: string, condition: string, parameters: unknown[]): Promise<void> {
  const rows = await manager.query<SpendRow[]>(
    `select f.*, l.ledger_account_id,
            coalesce((select -sum(e.amount) from ledger_postings p join ledger_entries e using (posting_id)
                       where p.tx_id = f.tx_id and p.kind = 'adjustment' and e.bucket = 'LOSS'), 0) as lost
       from foreign_spends f left join transactions t on t.tx_id = f.tx_id
       left join ledger_accounts l on l.account_id = t.account_id and l.chain = t.chain and l.symbol = t.token_symbol
      where f.chain = $1 and ${condition} limit ${limit}`,
    [chain, ...parameters],
  );
  for (const { transaction, owner, amount, tx_id: txId, ledger_account_id: id, lost } of rows) {
    await manager.query('delete from foreign_spends where (chain, transaction, owner) = ($1, $2, $3)', [
      chain,
      transaction,
      owner,
    ]);
    const account = id === null ? undefined : (await findLedgerAccountsForUpdate(manager, [id])).get(id);
    if (txId !== null && account) await postAdjustment(manager, txId, giveBackTaken(account, BigInt(amount), BigInt(lost)));
  }
}

/** A spend of which operators are told. */
export interface ForeignSpend {
  transaction: string;
  owner: string;
  /** Atomic units of the native coin. */
  amount: bigint;
}

/** Those in blocks from `from` on. */
export async function findForeignSpends(manager: EntityManager, chain: string, from: number): Promise<ForeignSpend[]> {
  const rows = await manager.query<SpendRow[]>(
    `select transaction, owner, amount from foreign_spends where chain = $1 and block_number >= $2 order by block_number desc limit ${limit}`,
    [chain, from],
  );
  return rows.map(({ transaction, owner, amount }) => ({ transaction, owner, amount: BigInt(amount) }));
}
