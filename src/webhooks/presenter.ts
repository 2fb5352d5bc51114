import type { WebhookEntity } from './entity';
import type { DeliveryRow } from './delivery-repository';
import type { DeliveryView, WebhookView, WebhookWithSecretView } from './schema';

export const presentWebhook = (webhook: WebhookEntity): WebhookView => ({
  webhook_id: webhook.webhookId,
  url: webhook.url,
  description: webhook.description,
  events: webhook.events,
  status: webhook.status,
  disabled_reason: webhook.disabledReason,
  disabled_at: webhook.disabledAt?.toISOString() ?? null,
  failing_since: webhook.failingSince?.toISOString() ?? null,
  previous_secret_valid_until:
    webhook.previousSecretUntil && webhook.previousSecretUntil > new Date() ? webhook.previousSecretUntil.toISOString() : null,
  created_at: webhook.createdAt.toISOString(),
  updated_at: webhook.updatedAt.toISOString(),
});

export const presentWebhookWithSecret = ({
  webhook,
  secret,
}: {
  webhook: WebhookEntity;
  secret: string;
}): WebhookWithSecretView => ({ ...presentWebhook(webhook), secret });

export const presentDelivery = (row: DeliveryRow): DeliveryView => ({
  delivery_id: row.delivery_id,
  webhook_id: row.webhook_id,
  event_id: row.event_id,
  event_type: row.kind,
  subject_id: row.subject_id,
  status: row.status,
  attempts: row.attempts,
  next_attempt_at: row.next_attempt_at?.toISOString() ?? null,
  created_at: row.created_at.toISOString(),
  ended_at: row.ended_at?.toISOString() ?? null,
  attempt_log: row.attempt_log.map(({ at, ...attempt }) => ({ ...attempt, at: new Date(at).toISOString() })),
});
