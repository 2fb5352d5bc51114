import { type DataSource, type EntityManager, IsNull } from 'typeorm';
import type { LimitOffset } from '../http/pagination';
import { isUuid } from '../platform/ids';
import { WebhookEntity } from './entity';

type NewWebhook = Pick<WebhookEntity, 'webhookId' | 'clientId' | 'url' | 'description' | 'events' | 'secret' | 'secretCreatedBy'>;
type Changes = Partial<Omit<WebhookEntity, 'webhookId' | 'clientId' | 'createdAt' | 'updatedAt'>>;

/** Endpoints of one client at a time; deleted ones are not found. */
export class WebhookRepository {
  constructor(private readonly database: DataSource) {}

  find(clientId: string, webhookId: string, manager: EntityManager = this.database.manager): Promise<WebhookEntity | null> {
    if (!isUuid(webhookId)) return Promise.resolve(null);
    return manager.findOneBy(WebhookEntity, { clientId, webhookId, deletedAt: IsNull() });
  }

  findLocked(manager: EntityManager, clientId: string, webhookId: string): Promise<WebhookEntity | null> {
    if (!isUuid(webhookId)) return Promise.resolve(null);
    return manager.findOne(WebhookEntity, {
      where: { clientId, webhookId, deletedAt: IsNull() },
      lock: { mode: 'for_no_key_update' },
    });
  }

  /** Counted and skipped one by one: a client has ten at most (`endpointsPerClient`), and the index has none that is deleted. */
  list(clientId: string, { limit, offset }: LimitOffset): Promise<[WebhookEntity[], number]> {
    return this.database.manager.findAndCount(WebhookEntity, {
      where: { clientId, deletedAt: IsNull() },
      order: { webhookId: 'DESC' },
      take: limit,
      skip: offset,
    });
  }

  /** Counts under a lock that prevents concurrent inserts for the same client. */
  async countLocked(manager: EntityManager, clientId: string): Promise<number> {
    await manager.query(`select 1 from clients where client_id = $1 for no key update`, [clientId]);
    return manager.countBy(WebhookEntity, { clientId, deletedAt: IsNull() });
  }

  async insert(manager: EntityManager, webhook: NewWebhook): Promise<void> {
    await manager.insert(WebhookEntity, { ...webhook, status: 'enabled' });
  }

  async update(manager: EntityManager, { clientId, webhookId }: WebhookEntity, changes: Changes): Promise<void> {
    await manager.update(WebhookEntity, { clientId, webhookId }, { ...changes, updatedAt: () => 'now()' });
  }
}
