import type { DataSource } from 'typeorm';
import type { AccountEntity } from '../accounts/entity';
import type { AccountRepository } from '../accounts/repository';
import { enabledChain } from '../accounts/service';
import type { GetFamily } from '../chains/family';
import { type ChainRegistry, tokenBySymbol } from '../chains/registry';
import type { ChainDefinition, TokenDefinition } from '../chains/types';
import type { IdempotencyContext } from '../http/context';
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
   * Adds a token or coin to what the client sees of an account; what has arrived before shows at once.
   * @throws GatewayError invalid_parameter, not_found (account), account_not_active, asset_already_exists.
   */
  async add(clientId: string, { firstAttemptAt: firstAttemptAt }: IdempotencyContext, input: AddAsset): Promise<AssetRow> {
    const { registry, accounts, database } = this.deps;
    // what the body alone shows to be wrong is said first, whoever owns the account
    if (input.chain !== undefined) tokenOn(enabledChain(registry, input.chain), input.symbol);
    const account = await accounts.find(clientId, input.account_id);
    if (!account) throw notFound('account');
    const chain = this.chainOf(account, input.chain);
    const token = tokenOn(chain, input.symbol);
    if (account.status !== 'ACTIVE') throw new GatewayError('account_not_active', 'The account is not active');

    const assetId = await inTransaction(database, async (manager) => {
      await ensureLedgerAccounts(manager, [{ owner: account, chain: chain.name, token }]);
      const ledgerAccount = await findLedgerAccount(manager, account.accountId, chain.name, token.symbol);
      if (!ledgerAccount) throw new Error(`no ledger account for ${token.symbol} on ${chain.name}`);
      const ids = { assetId: ledgerAccount.ledgerAccountId, accountId: account.accountId, walletId: account.walletId, clientId };
      const { isNew, createdAt } = await this.deps.assets.add(manager, ids);
      // a row younger than the first try of this very request is that try's own work
      if (!isNew && !(firstAttemptAt && createdAt >= firstAttemptAt)) {
        throw new GatewayError('asset_already_exists', `${token.symbol} on ${chain.name} is already added to this account`);
      }
      return ids.assetId;
    });
    return this.get(clientId, assetId);
  }

  async get(clientId: string, assetId: string): Promise<AssetRow> {
    const asset = await this.deps.assets.find(clientId, assetId);
    if (!asset) throw notFound('asset');
    return asset;
  }

  list(clientId: string, accountId: string | undefined, slice: LimitOffset): Promise<[AssetRow[], number]> {
    return this.deps.assets.list(clientId, accountId, slice);
  }

  private chainOf(account: AccountEntity, named: string | undefined): ChainDefinition {
    if (!this.deps.getFamily(account.family).addressOnManyChains) {
      if (named !== undefined) throw invalidParameter('chain', `must be omitted for an account on ${account.chain}`);
      return enabledChain(this.deps.registry, account.chain);
    }
    if (named === undefined)
      throw invalidParameter('chain', 'is required for an account whose address is the same on many chains');
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
