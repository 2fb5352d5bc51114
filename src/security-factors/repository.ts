import { type DataSource, type EntityManager, IsNull, QueryFailedError } from 'typeorm';
import type { LimitOffset } from '../http/pagination';
import { isUuid } from '../platform/ids';
import { type FactorStatus, type FactorType, SecurityFactorEntity } from './entity';

export interface FactorFilter {
  chain?: string;
  factorType?: FactorType;
  status?: FactorStatus;
}

export type NewFactor = Pick<
  SecurityFactorEntity,
  'factorId' | 'clientId' | 'factorType' | 'chain' | 'address' | 'addressKey' | 'label' | 'reason' | 'addedBy'
>;

/** Entries of one client at a time. Deleted entries stay in the table; only `findIncludingDeleted` returns them. */
export class SecurityFactorRepository {
  constructor(private readonly database: DataSource) {}

  find(clientId: string, factorId: string): Promise<SecurityFactorEntity | null> {
    return isUuid(factorId)
      ? this.database.manager.findOneBy(SecurityFactorEntity, { clientId, factorId, deletedAt: IsNull() })
      : Promise.resolve(null);
  }

  /** Also returns a deleted entry. */
  findIncludingDeleted(clientId: string, factorId: string): Promise<SecurityFactorEntity | null> {
    return this.database.manager.findOneBy(SecurityFactorEntity, { clientId, factorId });
  }

  /** Locked until the end of the transaction. */
  findLocked(manager: EntityManager, clientId: string, factorId: string): Promise<SecurityFactorEntity | null> {
    return isUuid(factorId)
      ? manager.findOne(SecurityFactorEntity, {
          where: { clientId, factorId, deletedAt: IsNull() },
          lock: { mode: 'for_no_key_update' },
        })
      : Promise.resolve(null);
  }

  /** Counted and skipped one by one: a client has 10,000 at most (`maxEntries`), and the index has none that is deleted. */
  list(clientId: string, filter: FactorFilter, { limit, offset }: LimitOffset): Promise<[SecurityFactorEntity[], number]> {
    return this.database.manager.findAndCount(SecurityFactorEntity, {
      where: { clientId, ...filter, deletedAt: IsNull() },
      order: { factorId: 'DESC' },
      take: limit,
      skip: offset,
    });
  }

  count(manager: EntityManager, clientId: string): Promise<number> {
    return manager.countBy(SecurityFactorEntity, { clientId, deletedAt: IsNull() });
  }

  hasActive(manager: EntityManager, { clientId, factorType, chain, addressKey }: NewFactor): Promise<boolean> {
    const where = { clientId, factorType, chain, addressKey, status: 'active' as const, deletedAt: IsNull() };
    return manager.existsBy(SecurityFactorEntity, where);
  }

  /** Adds an active entry. Returns false when there is one with the same address, type and chain, even a concurrent one. */
  async insert(manager: EntityManager, factor: NewFactor): Promise<boolean> {
    const added = await manager.query<unknown[]>(
      `insert into security_factors (factor_id, client_id, factor_type, chain, address, address_key, label, reason, added_by)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
       on conflict (client_id, factor_type, chain, address_key) where status = 'active' and deleted_at is null do nothing
       returning factor_id`,
      [
        factor.factorId,
        factor.clientId,
        factor.factorType,
        factor.chain,
        factor.address,
        factor.addressKey,
        factor.label,
        factor.reason,
        factor.addedBy,
      ],
    );
    return added.length > 0;
  }

  /** Returns false when there is another active entry for the address; the transaction must be rolled back then. */
  async setStatus(manager: EntityManager, factorId: string, status: FactorStatus): Promise<boolean> {
    try {
      await manager.update(
        SecurityFactorEntity,
        { factorId },
        // the database's clock, which is also used for the cooling time
        { status, updatedAt: () => 'now()', ...(status === 'active' && { activatedAt: () => 'clock_timestamp()' }) },
      );
      return true;
    } catch (error) {
      if (error instanceof QueryFailedError && (error.driverError as { code?: string }).code === '23505') return false;
      throw error;
    }
  }

  async delete(manager: EntityManager, factorId: string): Promise<void> {
    const now = new Date();
    await manager.update(SecurityFactorEntity, { factorId }, { deletedAt: now, updatedAt: now });
  }
}
