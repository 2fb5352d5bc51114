import type { DataSource } from 'typeorm';
import type { AccountEntity } from '../accounts/entity';
import type { AccountRepository } from '../accounts/repository';
import { auditUser } from '../audit/log';
import { enabledChain } from '../accounts/service';
import type { GetFamily } from '../chains/family';
import { type ChainRegistry, tokenBySymbol } from '../chains/registry';
import type { ChainDefinition, TokenDefinition } from '../chains/types';
import type { Caller, IdempotencyContext } from '../http/context';
import type { LimitOffset } from '../http/pagination';
import { ensureLedgerAccounts, findLedgerAccount } from '../ledger/accounts';
import { inTransaction } from '../platform/database';
import { GatewayError, invalidParameter, notFound } from '../platform/errors';
import type { AssetRepository, AssetRow } from './repository';
import type { AddAsset } from './schema';

export interface AssetServiceDependencies {
  database: DataSource;
  registry: ChainRegistry;
  getFamily: GetFamily;
  accounts: AccountRepository;
  assets: AssetRepository;
}

export class AssetService {
  constructor(private readonly deps: AssetServiceDependencies) {}

  /**
   * Adds a token or coin to the visible assets of an account; earlier deposits are shown immediately.
   * @throws GatewayError invalid_parameter, not_found (account), account_not_active, asset_already_exists.
   */
  async add(caller: Caller, { firstAttemptAt }: IdempotencyContext, requestId: string, input: AddAsset): Promise<AssetRow> {
    const { registry, accounts, database } = this.deps;
    const { clientId } = caller;
    // errors in the body come first, independent of the owner of the account
    if (input.chain !== undefined) tokenOn(enabledChain(registry, input.chain), input.symbol);
    const account = await accounts.find(clientId, input.account_id);
    if (!account) throw notFound('account');
    const chain = this.resolveChain(account, input.chain);
    const token = tokenOn(chain, input.symbol);
    if (account.status !== 'ACTIVE') throw new GatewayError('account_not_active', 'The account is not active');

    const assetId = await inTransaction(database, async (manager) => {
      await ensureLedgerAccounts(manager, [{ owner: account, chain: chain.name, token }]);
      const ledgerAccount = await findLedgerAccount(manager, account.accountId, chain.name, token.symbol);
      if (!ledgerAccount) throw new Error(`no ledger account for ${token.symbol} on ${chain.name}`);
      const ids = { assetId: ledgerAccount.ledgerAccountId, accountId: account.accountId, walletId: account.walletId, clientId };
      const { isNew, createdAt } = await this.deps.assets.add(manager, ids);
      // a row that is newer than the first attempt of this request was added by that attempt
      if (!isNew && !(firstAttemptAt && createdAt >= firstAttemptAt)) {
        throw new GatewayError('asset_already_exists', `${token.symbol} on ${chain.name} is already added to this account`);
      }
      if (isNew)
        await auditUser(manager, caller, {
          action: 'asset.added',
          subject: { type: 'asset', id: ids.assetId },
          detail: { account_id: ids.accountId, chain: chain.name, symbol: token.symbol },
          requestId,
        });
      return ids.assetId;
    });
    return this.get(clientId, assetId);
  }

  async get(clientId: string, assetId: string): Promise<AssetRow> {
    const asset = await this.deps.assets.find(clientId, assetId);
    if (!asset) throw notFound('asset');
    return asset;
  }

  list(clientId: string, accountId: string | undefined, page: LimitOffset): Promise<[AssetRow[], number]> {
    return this.deps.assets.list(clientId, accountId, page);
  }

  private resolveChain(account: AccountEntity, named: string | undefined): ChainDefinition {
    if (!this.deps.getFamily(account.family).addressOnManyChains) {
      if (named !== undefined) throw invalidParameter('chain', `must be omitted for an account on ${account.chain}`);
      return enabledChain(this.deps.registry, account.chain);
    }
    if (named === undefined) throw invalidParameter('chain', 'is required: the address of this account exists on several chains');
    const chain = enabledChain(this.deps.registry, named);
    if (chain.family !== account.family) throw invalidParameter('chain', 'is not a chain of this account');
    return chain;
  }
}

function tokenOn(chain: ChainDefinition, symbol: string): TokenDefinition {
  const token = tokenBySymbol(chain, symbol);
  if (!token) throw invalidParameter('symbol', `is not available on ${chain.name}`);
  return token;
}
