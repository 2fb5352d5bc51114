import type { DataSource, EntityManager } from 'typeorm';
import { auditUser } from '../audit/log';
import type { GetFamily } from '../chains/family';
import { hasChildren } from '../chains/key-protocols';
import type { ChainRegistry } from '../chains/registry';
import type { ChainDefinition } from '../chains/types';
import type { Caller, IdempotencyContext } from '../http/context';
import type { LimitOffset } from '../http/pagination';
import { inTransaction } from '../platform/database';
import { externalIdInUse, invalidParameter, notFound } from '../platform/errors';
import type { StoredStatement } from '../wallets/attestation-entity';
import type { WalletRepository } from '../wallets/repository';
import type { WalletEntity } from '../wallets/entity';
import { toNotActive } from '../wallets/not-active';
import type { AttestedKey } from '../wallets/attested-keys';
import { AccountEntity } from './entity';
import type { KeyedAccount } from './attested-keys';
import { newAccount } from './new-account';
import { addressDiffers, type OwnAddresses } from './own-addresses';
import type { OwnKey, OwnKeys } from './own-keys';
import type { AccountFilter, AccountRepository } from './repository';
import type { CreateAccount } from './schema';

export interface AccountServiceDependencies {
  database: DataSource;
  registry: ChainRegistry;
  getFamily: GetFamily;
  wallets: WalletRepository;
  accounts: AccountRepository;
  addresses: OwnAddresses;
  ownKeys: OwnKeys;
}

export interface ListedAccount {
  account: AccountEntity;
  /** Its address is the one that the signing nodes attest. */
  isOwnAddress: boolean;
}

export interface AccountStatements {
  account: AccountEntity;
  attestations: StoredStatement[];
}

export class AccountService {
  constructor(private readonly deps: AccountServiceDependencies) {}

  /**
   * Creates an account with an address of its own. Where keys have no children it waits up to 10 s for the nodes to generate one, before
   * the database transaction: whatever happens, no account is stored without an attested key.
   * @throws GatewayError invalid_parameter (chain), not_found (wallet), wallet_not_active, external_id_in_use, address_differs, unavailable.
   */
  async create(
    caller: Caller,
    { resourceId }: IdempotencyContext,
    requestId: string,
    input: CreateAccount,
  ): Promise<AccountEntity> {
    const { clientId } = caller;
    const chain = enabledChain(this.deps.registry, input.chain);
    const own = await this.generateKey({ accountId: resourceId, walletId: input.wallet_id, clientId }, chain, input.external_id);
    return inTransaction(this.deps.database, async (manager) => {
      const wallet = await this.deps.wallets.findLocked(manager, clientId, input.wallet_id);
      if (!wallet) throw notFound('wallet');
      const earlier = await this.deps.accounts.find(clientId, resourceId, manager);
      if (earlier) return this.shown(manager, earlier);
      assertActive(wallet);
      const key = own ?? (await this.deps.addresses.getKey(manager, wallet));
      const account = {
        ...(await this.row(manager, wallet.walletId, key, chain)),
        accountId: resourceId,
        label: input.label ?? null,
        externalId: input.external_id ?? null,
      };
      if (!(await this.deps.accounts.insert(manager, account))) throw externalIdInUse('account');
      if (own) await this.deps.ownKeys.store(manager, resourceId, own);
      await auditUser(manager, caller, {
        action: 'account.created',
        subject: { type: 'account', id: resourceId },
        detail: { wallet_id: wallet.walletId, chain: chain.name, address: account.address },
        requestId,
      });
      const stored = await manager.findOneByOrFail(AccountEntity, { accountId: resourceId });
      this.deps.addresses.assertOwn(stored, key);
      return stored;
    });
  }

  /**
   * null where the key is the wallet's, or the account is there already.
   * @throws GatewayError not_found, wallet_not_active, external_id_in_use, unavailable.
   */
  private async generateKey(account: KeyedAccount, chain: ChainDefinition, externalId?: string): Promise<OwnKey | null> {
    if (hasChildren(this.deps.getFamily(chain.family).keyProtocol)) return null;
    const { clientId, walletId, accountId } = account;
    const [wallet, earlier] = await Promise.all([
      this.deps.wallets.find(clientId, walletId),
      this.deps.accounts.find(clientId, accountId),
    ]);
    if (!wallet) throw notFound('wallet');
    if (earlier) return null;
    assertActive(wallet);
    // before the nodes generate a key for nothing
    if (externalId !== undefined && (await this.deps.accounts.hasExternalId(clientId, externalId)))
      throw externalIdInUse('account');
    return this.deps.ownKeys.generate(account, chain.family);
  }

  private async row(manager: EntityManager, walletId: string, attested: AttestedKey, chain: ChainDefinition) {
    const addressIndex = await this.deps.accounts.nextIndex(manager, walletId, chain.family);
    return newAccount({ walletId, attested, chain, family: this.deps.getFamily(chain.family), addressIndex });
  }

  /** @throws GatewayError not_found, address_differs. */
  async get(clientId: string, accountId: string): Promise<AccountEntity> {
    const account = await this.deps.accounts.find(clientId, accountId);
    if (!account) throw notFound('account');
    return this.shown(this.deps.database.manager, account);
  }

  /** As stored, whatever they say: the caller verifies them. @throws GatewayError not_found. */
  async attestations(clientId: string, accountId: string): Promise<AccountStatements> {
    const account = await this.deps.accounts.find(clientId, accountId);
    if (!account) throw notFound('account');
    return { account, attestations: await this.deps.accounts.attestations(account) };
  }

  /** @throws GatewayError invalid_parameter for a chain that is not enabled. */
  async list(clientId: string, filter: AccountFilter, page: LimitOffset): Promise<[ListedAccount[], number]> {
    if (filter.chain !== undefined) enabledChain(this.deps.registry, filter.chain);
    const [accounts, total] = await this.deps.accounts.list(clientId, filter, page);
    const own = await this.deps.addresses.verified(this.deps.database.manager, accounts);
    return [accounts.map((account) => ({ account, isOwnAddress: own.has(account.accountId) })), total];
  }

  /** @throws GatewayError address_differs */
  private async shown(manager: EntityManager, account: AccountEntity): Promise<AccountEntity> {
    const own = await this.deps.addresses.verified(manager, [account]);
    if (!own.has(account.accountId)) throw addressDiffers();
    return account;
  }
}

/** @throws GatewayError wallet_not_active */
function assertActive(wallet: WalletEntity): void {
  const refusal = toNotActive(wallet);
  if (refusal) throw refusal;
}

/** @throws GatewayError invalid_parameter naming `chain`. */
export function enabledChain(registry: ChainRegistry, name: string): ChainDefinition {
  const chain = registry.find(name);
  if (!chain) throw invalidParameter('chain', 'is not the name of an enabled chain');
  return chain;
}
