import type { EntityManager } from 'typeorm';
import { getFamily } from '../chains/families';
import type { ChainFamily, ChainDefinition, DepositFound, PendingDeposit } from '../chains/types';
import type { GetFamily } from '../chains/family';
import { tokenByContract } from '../chains/registry';
import { ensureLedgerAccounts } from '../ledger/accounts';
import { newId } from '../platform/ids';
import { depositType } from '../transactions/types';

/** A payment to an account of the gateway, as a row of transactions. */
export interface DepositRow {
  tx_id: string;
  client_id: string;
  wallet_id: string;
  account_id: string;
  from_address: string;
  to_address: string;
  token_symbol: string;
  contract_address: string | null;
  decimals: number;
  /** Atomic units. */
  amount: string;
  tx_hash: string;
  position: string;
  /** null: no block holds it. */
  block_number: number | null;
  block_hash: string | null;
  required_confirmations: number;
}

interface Recipient {
  account_id: string;
  wallet_id: string;
  client_id: string;
  address: string;
  address_key: string;
}

/** Rows of the payments to accounts of the gateway. Unregistered tokens, zero amounts and unknown addresses are left out. */
export async function toDepositRows(
  manager: EntityManager,
  chain: ChainDefinition,
  found: (PendingDeposit & Partial<DepositFound>)[],
  findFamily: GetFamily = getFamily,
): Promise<DepositRow[]> {
  const family = findFamily(chain.family);
  const candidates = found.flatMap((it) => {
    const token = tokenByContract(chain, it.tokenContract);
    const key = family.parseAddress(it.toAddress)?.key;
    return token && key && it.amount > 0n ? [{ it, token, key }] : [];
  });
  const recipients = await findRecipients(manager, chain.family, [...new Set(candidates.map(({ key }) => key))]);
  return candidates.flatMap(({ it, token, key }) => {
    const to = recipients.get(key);
    if (!to) return [];
    const row: DepositRow = {
      ...{ tx_id: newId(), client_id: to.client_id, wallet_id: to.wallet_id, account_id: to.account_id },
      ...{ from_address: it.fromAddress, to_address: to.address },
      ...{ token_symbol: token.symbol, contract_address: token.contract, decimals: token.decimals },
      ...{ amount: it.amount.toString(), tx_hash: it.txHash, position: it.position },
      ...{ block_number: it.blockNumber ?? null, block_hash: it.blockHash ?? null },
      required_confirmations: it.confirmations ?? chain.confirmations,
    };
    return [row];
  });
}

async function findRecipients(manager: EntityManager, family: ChainFamily, keys: string[]): Promise<Map<string, Recipient>> {
  const rows = await manager.query<Recipient[]>(
    'select account_id, wallet_id, client_id, address, address_key from accounts where family = $1 and address_key = any($2::text[])',
    [family, keys],
  );
  return new Map(rows.map((row) => [row.address_key, row]));
}

/** Stores rows as DETECTED. A deposit that is known and not credited is moved to the block of its row, if that has one. */
export async function insertDepositRows(manager: EntityManager, chain: ChainDefinition, rows: DepositRow[]): Promise<void> {
  if (rows.length === 0) return;
  await ensureLedgerAccounts(
    manager,
    rows.map((row) => ({
      owner: { accountId: row.account_id, walletId: row.wallet_id, clientId: row.client_id },
      chain: chain.name,
      token: tokenByContract(chain, row.contract_address) ?? chain.native,
    })),
  );
  await manager.query(
    `insert into transactions (tx_id, client_id, wallet_id, account_id, asset_id, chain, transaction_type, from_address, to_address,
       token_symbol, contract_address, decimals, amount, status, tx_hash, position, block_number, block_hash, required_confirmations)
     select r.tx_id, r.client_id, r.wallet_id, r.account_id, l.ledger_account_id, $1, $3, r.from_address, r.to_address,
       r.token_symbol, r.contract_address, r.decimals, r.amount, 'DETECTED', r.tx_hash, r.position, r.block_number, r.block_hash, r.required_confirmations
       from jsonb_to_recordset($2::jsonb) as r (tx_id uuid, client_id uuid, wallet_id uuid, account_id uuid, from_address text,
         to_address text, token_symbol text, contract_address text, decimals smallint, amount numeric, tx_hash text, position text,
         block_number bigint, block_hash text, required_confirmations integer)
       join ledger_accounts l on l.account_id = r.account_id and l.chain = $1 and l.symbol = r.token_symbol
     on conflict (chain, tx_hash, position) where direction = 'in' and status <> 'ORPHANED'
     do update set block_number = excluded.block_number, block_hash = excluded.block_hash
       where transactions.status = 'DETECTED' and excluded.block_hash is not null
         and transactions.block_hash is distinct from excluded.block_hash`,
    [chain.name, JSON.stringify(rows), depositType],
  );
}
