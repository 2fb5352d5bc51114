import { type EntityManager, type FindOptionsWhere, In } from 'typeorm';
import type { TokenDefinition } from '../chains/types';
import { newId } from '../platform/ids';
import { createLogger, type Logger } from '../platform/logging';
import { LedgerAccountEntity } from './entity';

/** Owner of a ledger account: the columns of an account that the ledger account repeats. */
export interface LedgerOwner {
  accountId: string;
  walletId: string;
  clientId: string;
}

export interface LedgerAccountKey {
  owner: LedgerOwner;
  chain: string;
  token: TokenDefinition;
}

/**
 * Creates the ledger accounts that do not exist yet, with zero balances. Must be called before any row is locked: rows are inserted
 * in the same order everywhere, so that concurrent calls do not deadlock.
 */
export async function ensureLedgerAccounts(manager: EntityManager, keys: LedgerAccountKey[]): Promise<void> {
  if (keys.length === 0) return;
  const rows = keys
    .map(({ owner, chain, token }) => ({
      ledger_account_id: newId(),
      account_id: owner.accountId,
      wallet_id: owner.walletId,
      client_id: owner.clientId,
      chain,
      symbol: token.symbol,
      decimals: token.decimals,
      contract_address: token.contract,
    }))
    .sort((a, b) => compare(a.account_id, b.account_id) || compare(a.chain, b.chain) || compare(a.symbol, b.symbol));
  await manager.query(
    `insert into ledger_accounts (ledger_account_id, account_id, wallet_id, client_id, chain, symbol, decimals, contract_address)
     select r.* from jsonb_to_recordset($1::jsonb) as r (ledger_account_id uuid, account_id uuid, wallet_id uuid, client_id uuid,
       chain text, symbol text, decimals smallint, contract_address text)
     where not exists (select 1 from ledger_accounts l where (l.account_id, l.chain, l.symbol) = (r.account_id, r.chain, r.symbol))
     on conflict (account_id, chain, symbol) do nothing`,
    [JSON.stringify(rows)],
  );
}

/**
 * Locks ledger accounts until the end of the database transaction, always in the order of their ids, which prevents deadlocks of
 * concurrent postings. Locks "for no key update", so that foreign keys to the rows do not wait.
 * @throws Error when one of them does not exist.
 */
export async function findLedgerAccountsForUpdate(
  manager: EntityManager,
  ids: string[],
): Promise<Map<string, LedgerAccountEntity>> {
  const wanted = [...new Set(ids)];
  const rows = await lock(manager, { ledgerAccountId: In(wanted) });
  if (rows.length !== wanted.length) throw new Error(`only ${rows.length} of the ledger accounts ${wanted.join(', ')} exist`);
  return new Map(rows.map((row) => [row.ledgerAccountId, row]));
}

/** The same for those of one account, by their symbols: those that exist. */
export function findLedgerAccountsOfForUpdate(
  manager: EntityManager,
  { accountId, chain, symbols }: { accountId: string; chain: string; symbols: string[] },
): Promise<LedgerAccountEntity[]> {
  return lock(manager, { accountId, chain, symbol: In(symbols) });
}

/**
 * Locks those of all these transactions, in id order: for a database transaction that ends several of them. Call it under the locks of the
 * transactions.
 */
export async function lockLedgerAccountsOf(manager: EntityManager, txIds: string[]): Promise<void> {
  await manager.query(
    `select from ledger_accounts where ledger_account_id in (
       select l.ledger_account_id from transactions t
         join ledger_accounts l on l.account_id = t.account_id and l.chain = t.chain and l.symbol in (t.token_symbol, t.fee_symbol)
        where t.tx_id = any($1::uuid[]))
      order by ledger_account_id for no key update`,
    [txIds],
  );
}

const lock = (manager: EntityManager, where: FindOptionsWhere<LedgerAccountEntity>): Promise<LedgerAccountEntity[]> =>
  manager.find(LedgerAccountEntity, { where, order: { ledgerAccountId: 'ASC' }, lock: { mode: 'for_no_key_update' } });

/** The ledger account of a token; null while it does not exist. Takes no lock. */
export function findLedgerAccount(
  manager: EntityManager,
  accountId: string,
  chain: string,
  symbol: string,
): Promise<LedgerAccountEntity | null> {
  return manager.findOneBy(LedgerAccountEntity, { accountId, chain, symbol });
}

/** The same for several, by their ids: those that exist. */
export const findLedgerAccounts = (manager: EntityManager, ids: string[]): Promise<LedgerAccountEntity[]> =>
  manager.findBy(LedgerAccountEntity, { ledgerAccountId: In(ids) });

/** Amount that a fact from the chain took beyond the balance of a client's account; paid by the house. Atomic units. */
export interface Shortfall {
  ledgerAccountId: string;
  symbol: string;
  amount: bigint;
}

/** Logger for alerts to operators. */
export type AlertLog = Pick<Logger, 'error'>;
const defaultLog: AlertLog = createLogger('ledger', 'error');

/** Freezes the accounts with a shortfall (no transfer leaves them until an operator has checked them) and logs the alert. */
export async function freezeForShortfalls(
  manager: EntityManager,
  txId: string,
  shortfalls: Shortfall[],
  log: AlertLog = defaultLog,
): Promise<void> {
  for (const { ledgerAccountId, symbol, amount } of shortfalls) {
    const reason = `shortfall of ${amount} atomic units of ${symbol} in transaction ${txId}`;
    await manager.query(`update ledger_accounts set frozen_reason = coalesce(frozen_reason, $2) where ledger_account_id = $1`, [
      ledgerAccountId,
      reason,
    ]);
    log.error(
      { alert: 'ledger_shortfall', tx_id: txId, ledger_account_id: ledgerAccountId, symbol, amount: amount.toString() },
      reason,
    );
  }
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
