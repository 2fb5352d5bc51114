import type { DataSource, EntityManager } from 'typeorm';
import { auditUser, type RequestedBy } from '../audit/log';
import { findPage, type ListedTable, toPage } from '../http/list-page';
import type { LimitOffset } from '../http/pagination';
import { enqueue } from '../outbox/outbox';
import { inTransaction, requestTransaction } from '../platform/database';
import { externalIdInUse } from '../platform/errors';
import { entityColumns } from '../platform/entity-columns';
import { isUuid } from '../platform/ids';
import type { AttestationEntity } from './attestation-entity';
import { loadAttestations } from './attestations';
import { WalletEntity } from './entity';
import { findWalletForUpdate } from './lock';
import type { GenerationLimits } from './generation-limits';

const columns = entityColumns(WalletEntity, 't', [
  'walletId',
  'clientId',
  'walletName',
  'description',
  'externalId',
  'status',
  'keyStatus',
  'keyId',
  'publicKey',
  'chainCode',
  'createdAt',
  'updatedAt',
]);
const listedWallets: ListedTable = { table: 'wallets', orderedBy: 'wallet_id', select: columns.select };

export interface WalletFilter {
  externalId?: string | undefined;
}

/** Wallets of one client at a time: every query takes the client as its first parameter. */
export class WalletRepository {
  constructor(
    private readonly database: DataSource,
    private readonly limits: GenerationLimits,
  ) {}

  get manager(): EntityManager {
    return this.database.manager;
  }

  attestations(walletId: string): Promise<AttestationEntity[]> {
    return loadAttestations(this.manager, [walletId]);
  }

  find(clientId: string, walletId: string): Promise<WalletEntity | null> {
    return isUuid(walletId) ? this.database.manager.findOneBy(WalletEntity, { clientId, walletId }) : Promise.resolve(null);
  }

  /** Locked until the end of the transaction: indexes of accounts are assigned under this lock. */
  findLocked(manager: EntityManager, clientId: string, walletId: string): Promise<WalletEntity | null> {
    return findWalletForUpdate(manager, { clientId, walletId });
  }

  async list(clientId: string, { externalId }: WalletFilter, page: LimitOffset): Promise<[WalletEntity[], number]> {
    if (externalId !== undefined) return toPage(await this.manager.findBy(WalletEntity, { clientId, externalId }), page);
    const counted = { list: 'wallets', clientId, subjectId: clientId } as const;
    const [rows, total] = await findPage(this.manager, listedWallets, { where: [['client_id', clientId]] }, counted, page);
    return [rows.flatMap((row) => columns.read(row) ?? []), total];
  }

  /**
   * Inserts a wallet with its audit row and the outbox message for its key generation. No effect when the id exists: an earlier
   * attempt of the same request has created it.
   * @throws GatewayError external_id_in_use; unavailable when too many wallets wait for their key.
   */
  insert(
    wallet: Pick<WalletEntity, 'walletId' | 'clientId' | 'walletName' | 'description' | 'externalId'>,
    { userId, requestId }: RequestedBy,
  ): Promise<void> {
    const work = async (manager: EntityManager) => {
      const inserted = await manager
        .createQueryBuilder()
        .insert()
        .into(WalletEntity)
        .values({ ...wallet, status: 'PROGRESSING', keyStatus: 'GENERATING' })
        .orIgnore()
        .returning('wallet_id')
        .execute();
      if ((inserted.raw as unknown[]).length === 0) {
        const { walletId, clientId } = wallet;
        if (await manager.existsBy(WalletEntity, { walletId, clientId })) return;
        throw externalIdInUse('wallet');
      }
      await this.limits.assertRoom(manager, wallet.clientId);
      await auditUser(
        manager,
        { clientId: wallet.clientId, userId },
        {
          action: 'wallet.created',
          subject: { type: 'wallet', id: wallet.walletId },
          detail: { name: wallet.walletName },
          requestId,
        },
      );
      await enqueue(manager, { kind: 'start_key_generation', subjectId: wallet.walletId, clientId: wallet.clientId });
    };
    return inTransaction(this.database, work, requestTransaction);
  }
}
