import type { EntityManager } from 'typeorm';
import { AccountEntity } from '../accounts/entity';
import { AssetEntity } from '../assets/entity';
import { tokenBySymbol } from '../chains/registry';
import type { ChainDefinition, TokenDefinition } from '../chains/types';
import { ensureLedgerAccounts, findLedgerAccount } from '../ledger/accounts';
import type { LedgerAccountEntity } from '../ledger/entity';
import { GatewayError, notFound } from '../platform/errors';
import { WalletEntity } from '../wallets/entity';

export interface TransferSource {
  account: AccountEntity;
  token: TokenDefinition;
  /** Ledger account of the token. */
  asset: LedgerAccountEntity;
  /** Ledger account of the coin that pays the fee; may be the same. */
  native: LedgerAccountEntity;
}

/**
 * The asset to transfer from: one that the client has added, or a native coin with a balance.
 * @throws GatewayError not_found, wallet_not_active or account_not_active.
 */
export async function findSource(
  manager: EntityManager,
  clientId: string,
  chain: ChainDefinition,
  addressKey: string,
  symbol: string,
): Promise<TransferSource> {
  const token = tokenBySymbol(chain, symbol);
  const account = await manager.findOneBy(AccountEntity, { clientId, family: chain.family, addressKey });
  const asset = account && token && (await findLedgerAccount(manager, account.accountId, chain.name, token.symbol));
  if (!account || !token || !asset || !(await isAsset(manager, asset, token))) throw notFound('asset');

  const wallet = await manager.findOneByOrFail(WalletEntity, { walletId: account.walletId, clientId });
  if (wallet.status !== 'ACTIVE' || wallet.keyStatus !== 'ACTIVE')
    throw new GatewayError('wallet_not_active', 'The wallet is not active');
  if (account.status !== 'ACTIVE') throw new GatewayError('account_not_active', 'The account is not active');

  if (token.contract === null) return { account, token, asset, native: asset };
  return { account, token, asset, native: await nativeAccount(manager, account, chain) };
}

async function isAsset(
  manager: EntityManager,
  { ledgerAccountId, available, locked }: LedgerAccountEntity,
  token: TokenDefinition,
): Promise<boolean> {
  if (token.contract === null && available + locked > 0n) return true;
  return manager.existsBy(AssetEntity, { assetId: ledgerAccountId, isActive: true });
}

async function nativeAccount(
  manager: EntityManager,
  account: AccountEntity,
  chain: ChainDefinition,
): Promise<LedgerAccountEntity> {
  const { accountId } = account;
  const existing = await findLedgerAccount(manager, accountId, chain.name, chain.native.symbol);
  if (existing) return existing;
  await ensureLedgerAccounts(manager, [{ owner: account, chain: chain.name, token: chain.native }]);
  const made = await findLedgerAccount(manager, accountId, chain.name, chain.native.symbol);
  if (!made) throw new Error(`no ledger account of ${chain.native.symbol} for account ${accountId}`);
  return made;
}
