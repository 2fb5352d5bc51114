import type { EntityManager } from 'typeorm';
import { getFamily } from '../chains/families';
import type { GetFamily } from '../chains/family';
import { tokenByContract } from '../chains/registry';
import type { ChainDefinition, ChainFamily, DepositFound } from '../chains/types';
import { type AlertLog, ensureLedgerAccounts, freezeForShortfalls, findLedgerAccountsForUpdate } from '../ledger/accounts';
import type { LedgerAccountEntity } from '../ledger/entity';
import { creditDeposit, reverseDeposits } from '../ledger/entries';
import { post } from '../ledger/posting';
import { newId } from '../platform/ids';
import { depositType } from '../transactions/types';

/** Deposits per statement; the rest is left to the next call or round. */
const batchSize = 500;

/**
 * Which of these addresses belong to the gateway; canonical keys in, subset out. Disabled accounts count: they still receive
 * deposits.
 */
export async function depositAddresses(manager: EntityManager, family: ChainFamily, addressKeys: string[]): Promise<Set<string>> {
  const rows = await manager.query<{ address_key: string }[]>(
    'select address_key from accounts where family = $1 and address_key = any($2::text[])',
    [family, addressKeys],
  );
  return new Set(rows.map((row) => row.address_key));
}

interface Recipient {
  account_id: string;
  wallet_id: string;
  client_id: string;
  address: string;
  address_key: string;
}

/**
 * Stores payments to addresses of the gateway as DETECTED; nothing is credited yet. Idempotent by position (chain, hash, position):
 * a deposit that is found again in another block is moved to that block. Unregistered tokens, zero amounts and unknown addresses
 * are left out.
 */
export async function recordDeposits(
  manager: EntityManager,
  chain: ChainDefinition,
  found: DepositFound[],
  findFamily: GetFamily = getFamily,
): Promise<void> {
  const family = findFamily(chain.family);
  const candidates = found.flatMap((it) => {
    const token = tokenByContract(chain, it.tokenContract);
    const key = family.parseAddress(it.toAddress)?.key;
    return token && key && it.amount > 0n ? [{ it, token, key }] : [];
  });
  for (let start = 0; start < candidates.length; start += batchSize) {
    const batch = candidates.slice(start, start + batchSize);
    const recipients = await findRecipients(manager, chain.family, [...new Set(batch.map(({ key }) => key))]);
    const ours = batch.flatMap(({ it, token, key }) => {
      const to = recipients.get(key);
      return to ? [{ it, token, to }] : [];
    });
    await ensureLedgerAccounts(
      manager,
      ours.map(({ token, to }) => ({
        owner: { accountId: to.account_id, walletId: to.wallet_id, clientId: to.client_id },
        chain: chain.name,
        token,
      })),
    );
    await insertDeposits(
      manager,
      chain,
      ours.map(({ it, token, to }) => ({
        tx_id: newId(),
        client_id: to.client_id,
        wallet_id: to.wallet_id,
        account_id: to.account_id,
        from_address: it.fromAddress,
        to_address: to.address,
        token_symbol: token.symbol,
        contract_address: token.contract,
        decimals: token.decimals,
        amount: it.amount.toString(),
        tx_hash: it.txHash,
        position: it.position,
        block_number: it.blockNumber,
        block_hash: it.blockHash,
      })),
    );
  }
}

async function findRecipients(manager: EntityManager, family: ChainFamily, keys: string[]): Promise<Map<string, Recipient>> {
  const rows = await manager.query<Recipient[]>(
    'select account_id, wallet_id, client_id, address, address_key from accounts where family = $1 and address_key = any($2::text[])',
    [family, keys],
  );
  return new Map(rows.map((row) => [row.address_key, row]));
}

async function insertDeposits(manager: EntityManager, chain: ChainDefinition, rows: object[]): Promise<void> {
  if (rows.length === 0) return;
  await manager.query(
    `insert into transactions (tx_id, client_id, wallet_id, account_id, asset_id, chain, transaction_type, from_address, to_address,
       token_symbol, contract_address, decimals, amount, status, tx_hash, position, block_number, block_hash, required_confirmations)
     select r.tx_id, r.client_id, r.wallet_id, r.account_id, l.ledger_account_id, $1, $4, r.from_address, r.to_address,
       r.token_symbol, r.contract_address, r.decimals, r.amount, 'DETECTED', r.tx_hash, r.position, r.block_number, r.block_hash, $2
       from jsonb_to_recordset($3::jsonb) as r (tx_id uuid, client_id uuid, wallet_id uuid, account_id uuid, from_address text,
         to_address text, token_symbol text, contract_address text, decimals smallint, amount numeric, tx_hash text, position text,
         block_number bigint, block_hash text)
       join ledger_accounts l on l.account_id = r.account_id and l.chain = $1 and l.symbol = r.token_symbol
     on conflict (chain, tx_hash, position) where direction = 'in' and status <> 'ORPHANED'
     do update set block_number = excluded.block_number, block_hash = excluded.block_hash
       where transactions.status = 'DETECTED' and transactions.block_hash <> excluded.block_hash`,
    [chain.name, chain.confirmations, JSON.stringify(rows), depositType],
  );
}

interface StoredDeposit {
  tx_id: string;
  asset_id: string;
  status: 'DETECTED' | 'CONFIRMED';
  version: number;
  amount: string;
}

/**
 * Credits the deposits that are deep enough below `headBlock` (the block at the head has depth 1), oldest first, one batch per
 * call. Returns the number of credited deposits: call again while it is not 0 to credit all.
 */
export async function confirmDeposits(manager: EntityManager, chain: ChainDefinition, headBlock: number): Promise<number> {
  const deep = await manager.query<StoredDeposit[]>(
    `select tx_id, asset_id, status, version, amount from transactions
      where chain = $1 and status = 'DETECTED' and block_number <= $2 and block_number + required_confirmations <= $2::bigint + 1
      order by block_number limit $3 for no key update`,
    [chain.name, headBlock, batchSize],
  );
  if (deep.length === 0) return 0;
  const tokens = await findLedgerAccountsForUpdate(
    manager,
    deep.map((it) => it.asset_id),
  );
  await moveAll(manager, deep, 'CONFIRMED');
  // such a loss has frozen the account: deposits to other accounts need no query
  const losses = await findLosses(
    manager,
    deep.filter((it) => getToken(tokens, it).frozenReason !== null),
  );
  await post(
    manager,
    deep.map((it) => ({
      txId: it.tx_id,
      kind: 'deposit',
      seq: it.version + 1,
      entries: creditDeposit(getToken(tokens, it), BigInt(it.amount), losses.get(it.tx_id)),
    })),
  );
  return deep.length;
}

/**
 * Losses of the house from earlier finds of these deposits that were orphaned after they had been spent, as far as they are not
 * repaid.
 */
async function findLosses(manager: EntityManager, deposits: StoredDeposit[]): Promise<Map<string, bigint>> {
  if (deposits.length === 0) return new Map();
  const rows = await manager.query<{ tx_id: string; lost: string }[]>(
    `select t.tx_id, -sum(e.amount) as lost
       from transactions t
       join transactions o on o.account_id = t.account_id and o.asset_id = t.asset_id and o.status = 'ORPHANED'
        and o.chain = t.chain and o.tx_hash = t.tx_hash and o.position = t.position
       join ledger_postings p on p.tx_id = o.tx_id
       join ledger_entries e on e.posting_id = p.posting_id and e.bucket = 'LOSS'
      where t.tx_id = any($1::uuid[]) group by t.tx_id having sum(e.amount) < 0`,
    [deposits.map((it) => it.tx_id)],
  );
  return new Map(rows.map(({ tx_id, lost }) => [tx_id, BigInt(lost)]));
}

/**
 * Reverses every deposit, from a block on, that a reorganisation has dropped: it becomes ORPHANED, and a credited amount is taken
 * back. An amount that was spent meanwhile is posted as a loss of the house and the asset is frozen. If it is found again, it is a
 * new deposit.
 */
export async function orphanDeposits(
  manager: EntityManager,
  chain: ChainDefinition,
  fromBlock: number,
  log?: AlertLog,
): Promise<void> {
  for (;;) {
    const dropped = await manager.query<StoredDeposit[]>(
      `select tx_id, asset_id, status, version, amount from transactions
        where chain = $1 and block_number >= $2 and direction = 'in' and status in ('DETECTED', 'CONFIRMED')
        order by block_number desc limit $3 for no key update`,
      [chain.name, fromBlock, batchSize],
    );
    if (dropped.length === 0) return;
    const tokens = await findLedgerAccountsForUpdate(
      manager,
      dropped.map((it) => it.asset_id),
    );
    await moveAll(manager, dropped, 'ORPHANED');
    const credited = dropped.filter(({ status }) => status === 'CONFIRMED');
    const outcomes = reverseDeposits(credited.map((it) => ({ token: getToken(tokens, it), amount: BigInt(it.amount) })));
    const reversals = credited.map((it, index) => ({ it, ...(outcomes[index] ?? { entries: [], shortfalls: [] }) }));
    await post(
      manager,
      reversals.map(({ it, entries }) => ({ txId: it.tx_id, kind: 'deposit_reversal', seq: it.version + 1, entries })),
    );
    for (const { it, shortfalls } of reversals) await freezeForShortfalls(manager, it.tx_id, shortfalls, log);
  }
}

async function moveAll(manager: EntityManager, deposits: StoredDeposit[], status: 'CONFIRMED' | 'ORPHANED'): Promise<void> {
  await manager.query('update transactions set status = $2, version = version + 1 where tx_id = any($1::uuid[])', [
    deposits.map((it) => it.tx_id),
    status,
  ]);
}

function getToken(tokens: Map<string, LedgerAccountEntity>, { tx_id, asset_id }: StoredDeposit): LedgerAccountEntity {
  const token = tokens.get(asset_id);
  if (!token) throw new Error(`the ledger account of deposit ${tx_id} was not locked`);
  return token;
}
