import { In, type EntityManager } from 'typeorm';
import type { GetFamily } from '../chains/family';
import { hasChildren } from '../chains/key-protocols';
import { Alarms } from '../platform/alarms';
import { setBounded } from '../platform/bounded';
import { GatewayError } from '../platform/errors';
import type { Logger } from '../platform/logging';
import type { AttestedKey, AttestedKeys, KeyedWallet } from '../wallets/attested-keys';
import { WalletEntity } from '../wallets/entity';
import { AttestedAccountKeys } from './attested-keys';
import { deriveAddress, type DerivedAddress } from './derivation';
import type { AccountEntity } from './entity';
import { differingAddresses } from './metrics';

/** An account's row, as far as it says what its address is. */
export type AddressedAccount = Pick<
  AccountEntity,
  | 'accountId'
  | 'walletId'
  | 'clientId'
  | 'family'
  | 'address'
  | 'addressKey'
  | 'keyId'
  | 'keyProtocol'
  | 'derivationPath'
  | 'addressIndex'
>;

/** Derived addresses in memory: a derivation takes about a millisecond. */
const maxDerived = 50_000;

/**
 * Which addresses are the gateway's own: those that the keys attested by the nodes give. The database says where an account's address is
 * to be found, and never by itself that it is one.
 */
export class OwnAddresses {
  private readonly derived = new Map<string, DerivedAddress>();
  private readonly alarms: Alarms;
  /** Of accounts that have keys of their own. */
  readonly accountKeys: AttestedAccountKeys;

  constructor(
    private readonly keys: AttestedKeys,
    private readonly getFamily: GetFamily,
    log: Pick<Logger, 'error'>,
  ) {
    this.accountKeys = new AttestedAccountKeys(keys.nodeKeys, log);
    this.alarms = new Alarms(log);
  }

  /** Ids of the accounts whose address may be shown. The others raise an alarm. `wallets`: those of the accounts; read here if they are not given. */
  async verified(manager: EntityManager, accounts: AddressedAccount[], wallets?: KeyedWallet[]): Promise<Set<string>> {
    const [ofWallets, withOwn] = [true, false].map((shared) => accounts.filter((it) => this.hasWalletsKey(it) === shared));
    const own = [
      ...(await this.verifiedByWallet(manager, ofWallets ?? [], wallets)),
      ...(await this.verifiedByOwn(manager, withOwn ?? [])),
    ];
    return new Set(own.map(({ accountId }) => accountId));
  }

  private async verifiedByOwn(manager: EntityManager, accounts: AddressedAccount[]): Promise<AddressedAccount[]> {
    if (accounts.length === 0) return [];
    const keys = await this.accountKeys.find(manager, accounts);
    return accounts.filter((account) => {
      const key = keys.get(account.accountId);
      return key !== undefined && this.isOwn(account, key);
    });
  }

  private async verifiedByWallet(
    manager: EntityManager,
    accounts: AddressedAccount[],
    given?: KeyedWallet[],
  ): Promise<AddressedAccount[]> {
    const walletIds = [...new Set(accounts.map(({ walletId }) => walletId))];
    if (walletIds.length === 0) return [];
    const wallets =
      given?.filter(({ walletId }) => walletIds.includes(walletId)) ??
      (await manager.findBy(WalletEntity, { walletId: In(walletIds) }));
    const keys = await this.keys.find(manager, wallets);
    const withKey = new Set(wallets.filter(({ keyId }) => keyId !== null).map(({ walletId }) => walletId));
    return accounts.filter((account) => {
      const key = keys.get(account.walletId);
      if (key) return this.isOwn(account, key);
      // a wallet has its key before its accounts; of one whose key is not attested there is an alarm already
      if (!withKey.has(account.walletId)) this.alarm(account);
      return false;
    });
  }

  /** Also where the row names no family: it has no address then. */
  private hasWalletsKey({ family }: AddressedAccount): boolean {
    try {
      return hasChildren(this.getFamily(family).keyProtocol);
    } catch {
      return true;
    }
  }

  /** The key that signs for an account of a wallet. @throws GatewayError as getKey; address_differs when the nodes do not attest the account's own. */
  async keyOf(manager: EntityManager, account: AddressedAccount, wallet: KeyedWallet): Promise<AttestedKey> {
    if (this.hasWalletsKey(account)) return this.getKey(manager, wallet);
    const key = (await this.accountKeys.find(manager, [account])).get(account.accountId);
    if (!key) throw addressDiffers();
    return key;
  }

  /** @throws GatewayError wallet_not_active when the nodes do not attest the wallet's key. */
  async getKey(manager: EntityManager, wallet: KeyedWallet): Promise<AttestedKey> {
    const key = (await this.keys.find(manager, [wallet])).get(wallet.walletId);
    if (!key)
      throw new GatewayError('wallet_not_active', 'The key of the wallet is not attested by all signing nodes', {
        extra: { reason: 'key_not_attested' },
      });
    return key;
  }

  /** @throws GatewayError address_differs */
  assertOwn(account: AddressedAccount, key: AttestedKey): void {
    if (!this.isOwn(account, key)) throw addressDiffers();
  }

  private isOwn(account: AddressedAccount, key: AttestedKey): boolean {
    const own = this.derive(account, key);
    const isOwn =
      own !== null &&
      account.clientId === key.clientId &&
      account.keyProtocol === key.protocol &&
      account.keyId === own.keyId &&
      account.derivationPath === own.path &&
      account.address === own.address &&
      account.addressKey === own.key;
    if (!isOwn) this.alarm(account);
    return isOwn;
  }

  /** null where the row names no address at all. */
  private derive({ family, addressIndex }: AddressedAccount, key: AttestedKey): DerivedAddress | null {
    const name = `${key.keyId} ${family} ${addressIndex}`;
    const known = this.derived.get(name);
    if (known) return known;
    try {
      const address = deriveAddress(key, this.getFamily(family), addressIndex);
      setBounded(this.derived, name, address, maxDerived);
      return address;
    } catch {
      return null;
    }
  }

  /** An address in the name of an account that is not its own: counted each time, logged once. */
  alarm({ accountId, walletId }: Pick<AddressedAccount, 'accountId' | 'walletId'>): void {
    const subject = { account_id: accountId, wallet_id: walletId };
    this.raise(accountId, subject, 'the address of an account is not the one that the key of its wallet gives');
  }

  /** An own address of a transaction that belongs to no account. */
  alarmOfTransaction(txId: string): void {
    this.raise(txId, { tx_id: txId }, 'a transaction of no account has an address of its own');
  }

  private raise(id: string, subject: Record<string, string>, what: string): void {
    differingAddresses.inc();
    this.alarms.raise(id, { alert: 'address_differs', ...subject }, what);
  }
}

/** The address of an account cannot be shown or used. */
export const addressDiffers = (): GatewayError =>
  new GatewayError('address_differs', 'The stored address of the account is not the one that the signing nodes attest');
