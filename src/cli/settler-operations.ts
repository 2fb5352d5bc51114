import type { DataSource, EntityManager } from 'typeorm';
import { AccountEntity } from '../accounts/entity';
import { newAccount } from '../accounts/new-account';
import type { OwnAddresses } from '../accounts/own-addresses';
import type { OwnKey, OwnKeys } from '../accounts/own-keys';
import { AccountRepository } from '../accounts/repository';
import { enabledChain } from '../accounts/service';
import { audit } from '../audit/log';
import type { GetFamily } from '../chains/family';
import { hasChildren } from '../chains/key-protocols';
import { schemesOf } from '../chains/payment-methods';
import type { ChainRegistry } from '../chains/registry';
import type { ChainDefinition } from '../chains/types';
import { inTransaction } from '../platform/database';
import { GatewayError, invalidParameter, notFound } from '../platform/errors';
import { houseClientId } from '../platform/house';
import { isUuid, newId } from '../platform/ids';
import { type AddressedSettler, withAddresses } from '../settlers/addresses';
import { SettlerEntity } from '../settlers/entity';
import { findWalletForUpdate } from '../wallets/lock';
import { withReason } from './confirmation';
import { auditedOperation } from './audited-operation';
import { readyHouseWallet } from './house-wallet';
import { currentOperator } from './operator';

export interface SettlerDependencies {
  database: DataSource;
  registry: ChainRegistry;
  getFamily: GetFamily;
  addresses: OwnAddresses;
  ownKeys: OwnKeys;
  /** How long the first settler of a deployment waits for the key of the house. */
  keyWaitMs: number;
}

/** Operations on settlers. Changes are audited in the same database transaction. */
export class SettlerOperations {
  constructor(private readonly deps: SettlerDependencies) {}

  /**
   * A new settler with an address of its own, which needs coins of the chain before it can settle anything. Where keys have no children, the
   * nodes generate one for its account first, as for accounts of clients: without an attested key nothing is created.
   * @throws GatewayError invalid_parameter for a chain that is not enabled, and for one on which no payments are settled; unavailable,
   *   wallet_not_active as readyHouseWallet; unavailable when no key was generated within 10 s.
   */
  async create(chainName: string, { isPrimary }: { isPrimary: boolean }): Promise<AddressedSettler> {
    const { database, registry, getFamily, ownKeys, keyWaitMs } = this.deps;
    const chain = enabledChain(registry, chainName);
    if (schemesOf(chain.family).length === 0)
      throw invalidParameter('chain', `no payments are settled on ${chain.name}, so it needs no settler`);
    const { walletId } = await readyHouseWallet(database, keyWaitMs);
    const [settlerId, accountId] = [newId(), newId()];
    const sharesKey = hasChildren(getFamily(chain.family).keyProtocol);
    const own = sharesKey ? null : await ownKeys.generate({ accountId, walletId, clientId: houseClientId }, chain.family);
    await inTransaction(database, async (manager) => {
      const account = await this.insertAccount(manager, { walletId, accountId, own }, chain);
      if (isPrimary) await leavePrimary(manager, chain.name);
      const { address, addressKey } = account;
      await manager.insert(SettlerEntity, { settlerId, chain: chain.name, accountId, addressKey, status: 'ACTIVE', isPrimary });
      await audit(manager, {
        action: 'settler.created',
        outcome: 'success',
        actor: currentOperator(),
        clientId: null,
        subject: { type: 'settler', id: settlerId },
        detail: { chain: chain.name, address, is_primary: isPrimary },
      });
    });
    return this.show(settlerId);
  }

  /** Of all chains, or of one. */
  async list(chain?: string): Promise<AddressedSettler[]> {
    const { manager } = this.deps.database;
    const where = chain === undefined ? {} : { chain };
    return this.withAddresses(await manager.find(SettlerEntity, { where, order: { chain: 'ASC', settlerId: 'ASC' } }));
  }

  /** It takes nothing new and finishes what it has, until it is resumed. A primary settler leaves its role to nobody. */
  async drain(id: string, reason?: string): Promise<AddressedSettler> {
    const { settlerId, status, isPrimary } = await this.find(id);
    if (status === 'ACTIVE')
      await auditedOperation(
        this.deps.database,
        {
          action: 'settler.drained',
          clientId: null,
          subject: { type: 'settler', id: settlerId },
          detail: { was_primary: isPrimary, ...withReason(reason) },
        },
        (manager) => manager.update(SettlerEntity, { settlerId }, { status: 'DRAINING', isPrimary: false }),
      );
    return this.show(settlerId);
  }

  /** It takes new settlements again, and is not the primary settler until it is made that. Its coins were there all the time. */
  async resume(id: string, reason?: string): Promise<AddressedSettler> {
    const { settlerId, status } = await this.find(id);
    if (status === 'DRAINING')
      await auditedOperation(
        this.deps.database,
        { action: 'settler.resumed', clientId: null, subject: { type: 'settler', id: settlerId }, detail: withReason(reason) },
        (manager) => manager.update(SettlerEntity, { settlerId }, { status: 'ACTIVE' }),
      );
    return this.show(settlerId);
  }

  /** It takes the role of the chain's primary settler. @throws GatewayError business_error for one that is drained. */
  async makePrimary(id: string, reason?: string): Promise<AddressedSettler> {
    const { settlerId, chain, isPrimary } = await this.find(id);
    if (!isPrimary)
      await auditedOperation(
        this.deps.database,
        {
          ...{ action: 'settler.made_primary', clientId: null, subject: { type: 'settler', id: settlerId } },
          detail: { chain, ...withReason(reason) },
        },
        async (manager) => {
          await leavePrimary(manager, chain);
          const { affected } = await manager.update(SettlerEntity, { settlerId, status: 'ACTIVE' }, { isPrimary: true });
          if (affected !== 1) throw new GatewayError('business_error', 'The settler is drained: it takes nothing new');
        },
      );
    return this.show(settlerId);
  }

  private async insertAccount(
    manager: EntityManager,
    { walletId, accountId, own }: { walletId: string; accountId: string; own: OwnKey | null },
    chain: ChainDefinition,
  ) {
    const { database, getFamily, addresses, ownKeys } = this.deps;
    // indexes of accounts are assigned under this lock
    const wallet = await findWalletForUpdate(manager, { walletId });
    if (!wallet) throw new Error(`wallet ${walletId} of the house is not there`);
    const attested = own ?? (await addresses.getKey(manager, wallet));
    const addressIndex = await new AccountRepository(database).nextIndex(manager, walletId, chain.family);
    const family = getFamily(chain.family);
    const account = { ...newAccount({ walletId, attested, chain, family, addressIndex }), accountId, label: null };
    await manager.insert(AccountEntity, account);
    if (own) await ownKeys.store(manager, accountId, own);
    return account;
  }

  private async find(settlerId: string): Promise<SettlerEntity> {
    const { manager } = this.deps.database;
    const settler = isUuid(settlerId) ? await manager.findOneBy(SettlerEntity, { settlerId }) : null;
    if (!settler) throw notFound(`settler ${settlerId}`);
    return settler;
  }

  private async show(settlerId: string): Promise<AddressedSettler> {
    const [shown] = await this.withAddresses([await this.find(settlerId)]);
    if (!shown) throw notFound(`settler ${settlerId}`);
    return shown;
  }

  private withAddresses(settlers: SettlerEntity[]): Promise<AddressedSettler[]> {
    return withAddresses(this.deps.database.manager, this.deps.addresses, settlers);
  }
}

/** The chain has no primary settler afterwards. */
const leavePrimary = (manager: EntityManager, chain: string): Promise<unknown> =>
  manager.update(SettlerEntity, { chain, isPrimary: true }, { isPrimary: false });
