import type { DataSource, EntityManager } from 'typeorm';
import type { IdempotencyContext } from '../http/context';
import type { LimitOffset } from '../http/pagination';
import { inTransaction } from '../platform/database';
import { GatewayError, notFound } from '../platform/errors';
import type { DeliveryRepository, DeliveryRow } from './delivery-repository';
import type { WebhookEntity } from './entity';
import type { WebhookRepository } from './repository';

/** Why nothing is sent to an endpoint; null: it is. A deleted one is disabled. */
export const whyNotSent = ({ status }: Pick<WebhookEntity, 'status'>): GatewayError | null =>
  status === 'enabled' ? null : new GatewayError('business_error', 'The webhook is disabled: enable it first');

/** Deliveries of a client's endpoints: list, test, resend. */
export class DeliveryService {
  constructor(
    private readonly database: DataSource,
    private readonly webhooks: WebhookRepository,
    private readonly deliveries: DeliveryRepository,
  ) {}

  async list(
    clientId: string,
    webhookId: string,
    status: string | undefined,
    page: LimitOffset,
  ): Promise<[DeliveryRow[], number]> {
    await this.assertExists(clientId, webhookId);
    return this.deliveries.list(webhookId, status, page);
  }

  /** @throws GatewayError not_found, business_error while the endpoint is disabled or too many test events are pending. */
  async test(clientId: string, webhookId: string, { resourceId }: IdempotencyContext): Promise<DeliveryRow> {
    const deliveryId = await this.whileEnabled(clientId, webhookId, (manager) =>
      this.deliveries.addTest(manager, clientId, webhookId, resourceId),
    );
    return this.delivery(webhookId, deliveryId);
  }

  async resend(clientId: string, webhookId: string, deliveryId: string): Promise<DeliveryRow> {
    await this.assertExists(clientId, webhookId);
    await this.delivery(webhookId, deliveryId);
    await this.whileEnabled(clientId, webhookId, (manager) => this.deliveries.resend(manager, webhookId, deliveryId));
    return this.delivery(webhookId, deliveryId);
  }

  resendFailed(clientId: string, webhookId: string, since: Date): Promise<{ resent: number; hasMore: boolean }> {
    return this.whileEnabled(clientId, webhookId, (manager) => this.deliveries.resendFailed(manager, webhookId, since));
  }

  private async delivery(webhookId: string, deliveryId: string): Promise<DeliveryRow> {
    const delivery = await this.deliveries.find(webhookId, deliveryId);
    if (!delivery) throw notFound('delivery');
    return delivery;
  }

  private async assertExists(clientId: string, webhookId: string): Promise<void> {
    if (!(await this.webhooks.find(clientId, webhookId))) throw notFound('webhook');
  }

  /** Locks the endpoint, so that nothing is queued for one that is being disabled. */
  private whileEnabled<T>(clientId: string, webhookId: string, work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return inTransaction(this.database, async (manager) => {
      const webhook = await this.webhooks.findLocked(manager, clientId, webhookId);
      if (!webhook) throw notFound('webhook');
      const refusal = whyNotSent(webhook);
      if (refusal) throw refusal;
      return work(manager);
    });
  }
}
