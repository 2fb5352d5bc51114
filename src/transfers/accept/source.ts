import type { EntityManager } from 'typeorm';
import type { AccountEntity } from '../../accounts/entity';
import type { AddressedAccount } from '../../accounts/own-addresses';
import { tokenBySymbol } from '../../chains/registry';
import type { ChainDefinition, TokenDefinition } from '../../chains/types';
import { ensureLedgerAccounts, findLedgerAccount } from '../../ledger/accounts';
import type { LedgerAccountRef } from '../../ledger/entries';
import { accountDoubted } from '../../orders/reconcile-required';
import { GatewayError } from '../../platform/errors';
import type { KeyedWallet } from '../../wallets/attested-keys';
import type { WalletEntity } from '../../wallets/entity';
import { toNotActive } from '../../wallets/not-active';
import type { ParsedTransfer } from './request';

export interface TransferSource {
  account: AddressedAccount;
  wallet: KeyedWallet;
  token: TokenDefinition;
  /** Ledger account of the token. */
  asset: LedgerAccountRef;
  /** Ledger account of the coin that pays the fee; may be the same. */
  native: LedgerAccountRef;
}

/** What the rows say of the asset to transfer from. */
export interface SourceRow extends AddressedAccount {
  wallet_key_id: string | null;
  public_key: Buffer | null;
  chain_code: Buffer | null;
  status: AccountEntity['status'];
  wallet_status: WalletEntity['status'];
  key_status: WalletEntity['keyStatus'];
  /** null: the account has never held the token. */
  ledger_account_id: string | null;
  has_balance: boolean | null;
  is_added: boolean;
  native_id: string | null;
  /** The chain counts more transactions of the address than the gateway knows. */
  is_doubted: boolean;
}

/** Only reads. undefined: there is no such token, or no such account of the client. */
export async function findSourceRow(
  manager: EntityManager,
  { request: { clientId, tokenSymbol }, chain, from }: ParsedTransfer,
): Promise<SourceRow | undefined> {
  const token = tokenBySymbol(chain, tokenSymbol);
  return token && queryRow(manager, clientId, chain, from.key, token);
}

/** An asset before it is used. */
export interface FoundAsset extends Omit<TransferSource, 'native'> {
  row: SourceRow;
  /** null: the account has never held the coin. */
  native: LedgerAccountRef | null;
}

/**
 * The asset to transfer from, of which `row` was read: one that the client has added, or a native coin with a balance.
 * @throws GatewayError not_found, wallet_not_active, account_not_active or reconcile_required.
 */
export async function toSource(
  manager: EntityManager,
  parsed: ParsedTransfer,
  row: SourceRow | undefined,
): Promise<TransferSource> {
  const found = findAsset(parsed, row);
  assertUsable(found.row);
  const { account, wallet, token, asset } = found;
  const native = found.native ?? (await makeNative(manager, parsed.request.clientId, account, parsed.chain));
  return { account, wallet, token, asset, native };
}

/** The same without a look at its state; writes nothing. @throws GatewayError not_found, with what is missing as its `reason`. */
export function findAsset({ request: { tokenSymbol }, chain }: ParsedTransfer, row: SourceRow | undefined): FoundAsset {
  const token = tokenBySymbol(chain, tokenSymbol);
  if (!token) throw noAsset('unknown_token', `${chain.name} has no such token`);
  if (!row) throw noAsset('unknown_sender', 'the sender is no account of yours');
  if (!row.ledger_account_id || !isAsset(row, token))
    throw noAsset('asset_not_added', `the account has not added ${token.symbol} on ${chain.name}`);
  const wallet = { ...row, keyId: row.wallet_key_id, publicKey: row.public_key, chainCode: row.chain_code };
  const asset = toRef(row.ledger_account_id, chain, token);
  const coin = row.native_id ? toRef(row.native_id, chain, chain.native) : null;
  return { row, account: row, wallet, token, asset, native: token.contract === null ? asset : coin };
}

/**
 * What a database lacks that was restored, it may have paid: nothing is accepted for an account of which the chain has executed more.
 * @throws GatewayError wallet_not_active or account_not_active; reconcile_required.
 */
export function assertUsable({
  wallet_status: status,
  key_status: keyStatus,
  status: ofAccount,
  is_doubted: isDoubted,
}: SourceRow): void {
  const notActive = toNotActive({ status, keyStatus });
  if (notActive) throw notActive;
  if (ofAccount !== 'ACTIVE') throw new GatewayError('account_not_active', 'The account is not active');
  if (isDoubted) throw accountDoubted();
}

async function queryRow(
  manager: EntityManager,
  clientId: string,
  chain: ChainDefinition,
  addressKey: string,
  token: TokenDefinition,
): Promise<SourceRow | undefined> {
  const [row] = await manager.query<SourceRow[]>(
    `select a.account_id as "accountId", a.wallet_id as "walletId", a.client_id as "clientId", a.family, a.address,
            a.address_key as "addressKey", a.key_id as "keyId", a.key_protocol as "keyProtocol",
            a.derivation_path as "derivationPath", a.address_index as "addressIndex", a.status,
            w.key_id as wallet_key_id, w.public_key, w.chain_code, w.status as wallet_status, w.key_status,
            l.ledger_account_id, l.available + l.locked > 0 as has_balance,
            exists (select 1 from assets s where s.asset_id = l.ledger_account_id and s.is_active) as is_added,
            n.ledger_account_id as native_id,
            exists (select 1 from doubted_ordinals d where d.chain = $4 and d.owner = a.address_key) as is_doubted
       from accounts a
       join wallets w on w.wallet_id = a.wallet_id and w.client_id = a.client_id
       left join ledger_accounts l on l.account_id = a.account_id and l.chain = $4 and l.symbol = $5
       left join ledger_accounts n on n.account_id = a.account_id and n.chain = $4 and n.symbol = $6
      where a.client_id = $1 and a.family = $2 and a.address_key = $3`,
    [clientId, chain.family, addressKey, chain.name, token.symbol, chain.native.symbol],
  );
  return row;
}

/** `reason` says what of sender, chain and token is missing. */
const noAsset = (reason: 'unknown_token' | 'unknown_sender' | 'asset_not_added', why: string): GatewayError =>
  new GatewayError('not_found', `asset not found: ${why}`, { extra: { reason } });

const isAsset = (row: SourceRow, token: TokenDefinition): boolean =>
  row.is_added || (token.contract === null && row.has_balance === true);

/** An account that has never held the coin gets an empty ledger account for it. */
async function makeNative(
  manager: EntityManager,
  clientId: string,
  { accountId, walletId }: TransferSource['account'],
  chain: ChainDefinition,
): Promise<LedgerAccountRef> {
  await ensureLedgerAccounts(manager, [{ owner: { accountId, walletId, clientId }, chain: chain.name, token: chain.native }]);
  const made = await findLedgerAccount(manager, accountId, chain.name, chain.native.symbol);
  if (!made) throw new Error(`no ledger account of ${chain.native.symbol} for account ${accountId}`);
  return made;
}

const toRef = (ledgerAccountId: string, chain: ChainDefinition, { symbol }: TokenDefinition): LedgerAccountRef => ({
  ledgerAccountId,
  chain: chain.name,
  symbol,
});
