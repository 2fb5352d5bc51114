import type { DataSource, EntityManager } from 'typeorm';
import { hasChildren } from '../chains/key-protocols';
import type { ChainFamily } from '../chains/types';
import { type ColumnValues, findPage, type ListedTable, toPage } from '../http/list-page';
import type { LimitOffset } from '../http/pagination';
import { entityColumns, insertionOf } from '../platform/entity-columns';
import { isUuid } from '../platform/ids';
import type { StoredStatement } from '../wallets/attestation-entity';
import { loadAttestations } from '../wallets/attestations';
import { AccountAttestationEntity } from './attestation-entity';
import { AccountEntity } from './entity';

export interface AccountFilter {
  walletId?: string | undefined;
  chain?: string | undefined;
  externalId?: string | undefined;
}

const columns = entityColumns(AccountEntity, 't', [
  'accountId',
  'walletId',
  'clientId',
  'family',
  'chain',
  'network',
  'address',
  'addressKey',
  'keyId',
  'keyProtocol',
  'derivationPath',
  'addressIndex',
  'addressType',
  'status',
  'label',
  'externalId',
  'createdAt',
]);
const listedAccounts: ListedTable = { table: 'accounts', orderedBy: 'account_id', select: columns.select };

/** Accounts of one client at a time. */
export class AccountRepository {
  constructor(private readonly database: DataSource) {}

  find(clientId: string, accountId: string, manager: EntityManager = this.database.manager): Promise<AccountEntity | null> {
    return isUuid(accountId) ? manager.findOneBy(AccountEntity, { clientId, accountId }) : Promise.resolve(null);
  }

  /** What the nodes have said of the key that signs for the account: its own, or the one of its wallet. */
  attestations({ accountId, walletId, keyProtocol }: AccountEntity): Promise<StoredStatement[]> {
    const { manager } = this.database;
    if (hasChildren(keyProtocol)) return loadAttestations(manager, [walletId]);
    return manager.find(AccountAttestationEntity, { where: { accountId }, order: { node: 'ASC' } });
  }

  /** Returns false when another account of the client has its external id, even one of a concurrent request. */
  async insert(manager: EntityManager, account: Partial<AccountEntity>): Promise<boolean> {
    const { text, values } = insertionOf(AccountEntity, account);
    const inserted = await manager.query<unknown[]>(
      `${text} on conflict (client_id, external_id) where external_id is not null do nothing returning account_id`,
      values,
    );
    return inserted.length > 0;
  }

  hasExternalId(clientId: string, externalId: string): Promise<boolean> {
    return this.database.manager.existsBy(AccountEntity, { clientId, externalId });
  }

  async list(clientId: string, filter: AccountFilter, page: LimitOffset): Promise<[AccountEntity[], number]> {
    const { walletId, chain, externalId } = filter;
    if (walletId !== undefined && !isUuid(walletId)) return [[], 0];
    if (externalId !== undefined) {
      const where = { clientId, externalId, ...(walletId !== undefined && { walletId }), ...(chain !== undefined && { chain }) };
      return toPage(await this.database.manager.findBy(AccountEntity, where), page);
    }
    const where: ColumnValues<'client_id' | 'wallet_id' | 'chain'> = [
      walletId === undefined ? ['client_id', clientId] : ['wallet_id', walletId],
    ];
    if (chain !== undefined) where.push(['chain', chain]);
    const counted = { list: 'accounts', clientId, subjectId: walletId ?? clientId, chain } as const;
    const [rows, total] = await findPage(this.database.manager, listedAccounts, { where, clientId }, counted, page);
    return [rows.flatMap((row) => columns.read(row) ?? []), total];
  }

  /** The lowest index never used in a wallet; call it under the wallet's lock. */
  async nextIndex(manager: EntityManager, walletId: string, family: ChainFamily): Promise<number> {
    const last = await manager.maximum(AccountEntity, 'addressIndex', { walletId, family });
    return last === null ? 0 : last + 1;
  }
}
