import type { DataSource, EntityManager } from 'typeorm';
import { auditUser } from '../audit/log';
import type { GetFamily } from '../chains/family';
import type { ChainRegistry } from '../chains/registry';
import type { ChainDefinition } from '../chains/types';
import type { Caller, IdempotencyContext } from '../http/context';
import type { LimitOffset } from '../http/pagination';
import { inTransaction } from '../platform/database';
import { GatewayError, invalidParameter, notFound } from '../platform/errors';
import type { WalletEntity } from '../wallets/entity';
import type { WalletRepository } from '../wallets/repository';
import { deriveAddress } from './derivation';
import { AccountEntity } from './entity';
import type { AccountFilter, AccountRepository } from './repository';
import type { CreateAccount } from './schema';

export interface AccountServiceDependencies {
  database: DataSource;
  registry: ChainRegistry;
  getFamily: GetFamily;
  wallets: WalletRepository;
  accounts: AccountRepository;
}

export class AccountService {
  constructor(private readonly deps: AccountServiceDependencies) {}

  /**
   * Creates an account with an address of its own.
   * @throws GatewayError invalid_parameter (chain), not_found (wallet), wallet_not_active.
   */
  async create(
    caller: Caller,
    { resourceId }: IdempotencyContext,
    requestId: string,
    input: CreateAccount,
  ): Promise<AccountEntity> {
    const { clientId } = caller;
    const chain = enabledChain(this.deps.registry, input.chain);
    return inTransaction(this.deps.database, async (manager) => {
      const wallet = await this.deps.wallets.findLocked(manager, clientId, input.wallet_id);
      if (!wallet) throw notFound('wallet');
      const earlier = await this.deps.accounts.find(clientId, resourceId, manager);
      if (earlier) return earlier;
      if (wallet.status !== 'ACTIVE' || wallet.keyStatus !== 'ACTIVE')
        throw new GatewayError('wallet_not_active', 'The wallet is not active');
      const account = await this.row(manager, wallet, chain, resourceId, input.label ?? null);
      await manager.insert(AccountEntity, account);
      await auditUser(manager, caller, {
        action: 'account.created',
        subject: { type: 'account', id: resourceId },
        detail: { wallet_id: wallet.walletId, chain: chain.name, address: account.address },
        requestId,
      });
      return manager.findOneByOrFail(AccountEntity, { accountId: resourceId });
    });
  }

  private async row(
    manager: EntityManager,
    wallet: WalletEntity,
    chain: ChainDefinition,
    accountId: string,
    label: string | null,
  ) {
    const addressIndex = await this.deps.accounts.nextIndex(manager, wallet.walletId, chain.family);
    const family = this.deps.getFamily(chain.family);
    const { address, key, path, keyId } = deriveAddress(wallet, family, addressIndex);
    return {
      accountId,
      walletId: wallet.walletId,
      clientId: wallet.clientId,
      family: chain.family,
      chain: chain.name,
      network: chain.network,
      address,
      addressKey: key,
      keyId,
      keyProtocol: family.keyProtocol,
      derivationPath: path,
      addressIndex,
      addressType: 'INBOUND' as const,
      status: 'ACTIVE' as const,
      label,
    };
  }

  async get(clientId: string, accountId: string): Promise<AccountEntity> {
    const account = await this.deps.accounts.find(clientId, accountId);
    if (!account) throw notFound('account');
    return account;
  }

  /** @throws GatewayError invalid_parameter for a chain that is not enabled. */
  async list(clientId: string, filter: AccountFilter, page: LimitOffset): Promise<[AccountEntity[], number]> {
    if (filter.chain !== undefined) enabledChain(this.deps.registry, filter.chain);
    return this.deps.accounts.list(clientId, filter, page);
  }
}

/** @throws GatewayError invalid_parameter naming `chain`. */
export function enabledChain(registry: ChainRegistry, name: string): ChainDefinition {
  const chain = registry.find(name);
  if (!chain) throw invalidParameter('chain', 'is not the name of an enabled chain');
  return chain;
}
