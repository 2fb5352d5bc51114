import type { EntityManager } from 'typeorm';
import { getFamily } from '../chains/families';
import type { GetFamily } from '../chains/family';
import { tokenByContract } from '../chains/registry';
import type { ChainDefinition, ChainFamily, DepositFound } from '../chains/types';
import { ensureLedgerAccounts } from '../ledger/accounts';
import { newId } from '../platform/ids';
import { depositType } from '../transactions/types';
import { batchSize } from './stored-deposits';

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
        required_confirmations: it.confirmations ?? chain.confirmations,
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
     select r.tx_id, r.client_id, r.wallet_id, r.account_id, l.ledger_account_id, $1, $3, r.from_address, r.to_address,
       r.token_symbol, r.contract_address, r.decimals, r.amount, 'DETECTED', r.tx_hash, r.position, r.block_number, r.block_hash, r.required_confirmations
       from jsonb_to_recordset($2::jsonb) as r (tx_id uuid, client_id uuid, wallet_id uuid, account_id uuid, from_address text,
         to_address text, token_symbol text, contract_address text, decimals smallint, amount numeric, tx_hash text, position text,
         block_number bigint, block_hash text, required_confirmations integer)
       join ledger_accounts l on l.account_id = r.account_id and l.chain = $1 and l.symbol = r.token_symbol
     on conflict (chain, tx_hash, position) where direction = 'in' and status <> 'ORPHANED'
     do update set block_number = excluded.block_number, block_hash = excluded.block_hash
       where transactions.status = 'DETECTED' and transactions.block_hash <> excluded.block_hash`,
    [chain.name, JSON.stringify(rows), depositType],
  );
}
