import Joi from 'joi';
import { id, oneOf, type PageQuery, pageFields, pageSchema, text, timestamp, view } from '../http/schemas';
import { mfaBody, mfaCode } from '../mfa/request';
import { eventKinds } from './events';

const url = () =>
  Joi.string()
    .max(2048)
    .example('https://example.com/gateway-events')
    .description('https, without credentials; must not resolve to a private or local address. Redirects are not followed');
const events = () =>
  Joi.array()
    .items(oneOf('EventType', eventKinds))
    .min(1)
    .unique()
    .allow(null)
    .description('Kinds of events to send; null: all, including kinds added later');
const status = () => oneOf('WebhookStatus', ['enabled', 'disabled']);

interface WithMfaCode {
  mfa_code?: string;
}

export interface CreateWebhook extends WithMfaCode {
  url: string;
  description?: string;
  events?: string[] | null;
}
export const createWebhook = Joi.object<CreateWebhook, true>({
  url: url().required(),
  description: text(500).allow(''),
  events: events(),
  mfa_code: mfaCode(),
});

export interface UpdateWebhook extends Partial<CreateWebhook> {
  status?: 'enabled' | 'disabled';
}
export const updateWebhook = Joi.object<UpdateWebhook, true>({
  url: url(),
  description: text(500).allow(''),
  events: events(),
  status: status().description(
    'After enabling, new events are sent; events missed before can be resent if they are listed as failed',
  ),
  mfa_code: mfaCode(),
}).or('url', 'description', 'events', 'status');

export const deleteWebhook = mfaBody;

export interface RotateSecret extends WithMfaCode {
  overlap_hours?: number;
}
export const rotateSecret = Joi.object<RotateSecret, true>({
  overlap_hours: Joi.number()
    .integer()
    .min(0)
    .max(168)
    .description('How long requests are also signed with the previous secret (default 24)'),
  mfa_code: mfaCode(),
});

export interface ListDeliveries extends PageQuery {
  status?: 'pending' | 'delivered' | 'failed';
}
const deliveryStatus = () => oneOf('DeliveryStatus', ['pending', 'delivered', 'failed']);
export const listWebhooks = Joi.object<PageQuery, true>(pageFields);
export const listDeliveries = Joi.object<ListDeliveries, true>({
  ...pageFields,
  status: deliveryStatus().description('Deliveries in this state only'),
});

export interface ResendFailed {
  since: string;
}
export const resendFailed = Joi.object<ResendFailed, true>({
  since: Joi.string()
    .isoDate()
    // Date does not support all forms of ISO 8601, such as week dates
    .custom((value: string, helpers) => (Number.isNaN(Date.parse(value)) ? helpers.error('string.isoDate') : value))
    .required()
    .example('2026-01-31T12:00:00.000Z')
    .description('Failed deliveries of events since this time'),
});

export interface WebhookView {
  webhook_id: string;
  url: string;
  description: string;
  events: string[] | null;
  status: string;
  disabled_reason: string | null;
  disabled_at: string | null;
  failing_since: string | null;
  previous_secret_valid_until: string | null;
  created_at: string;
  updated_at: string;
}

const webhookFields = {
  webhook_id: id(),
  url: Joi.string(),
  description: Joi.string().allow(''),
  events: Joi.array().items(Joi.string()).allow(null).description('Kinds of events; null: all'),
  status: status(),
  disabled_reason: oneOf('WebhookDisabledReason', ['client', 'gone', 'failing'])
    .allow(null)
    .description('client: disabled by you; gone: the receiver responded with 410; failing: all attempts failed for 3 days'),
  disabled_at: timestamp().allow(null),
  failing_since: timestamp()
    .allow(null)
    .description('Time of the first failure since the last success; null when the last attempt succeeded'),
  previous_secret_valid_until: timestamp()
    .allow(null)
    .description('During the overlap after a rotation: until when requests are also signed with the previous secret'),
  created_at: timestamp(),
  updated_at: timestamp(),
};
export const webhookView = view<WebhookView>('Webhook', webhookFields);
export const webhookPage = pageSchema(webhookView, 'WebhookPage');

export interface WebhookWithSecretView extends WebhookView {
  secret: string;
}
export const webhookWithSecretView = view<WebhookWithSecretView>('WebhookWithSecret', {
  ...webhookFields,
  secret: Joi.string()
    .example('whsec_…')
    .description('Signing secret (Standard Webhooks). Shown in this response only: store it'),
});

export interface DeletedWebhookView {
  webhook_id: string;
  deleted: boolean;
}
export const deletedWebhookView = view<DeletedWebhookView>('DeletedWebhook', { webhook_id: id(), deleted: Joi.boolean() });

export interface AttemptView {
  attempt: number;
  at: string;
  duration_ms: number;
  status_code: number | null;
  error: string | null;
  excerpt: string;
}
const attemptView = view<AttemptView>('WebhookAttempt', {
  attempt: Joi.number().integer().min(1),
  at: timestamp(),
  duration_ms: Joi.number().integer().min(0),
  status_code: Joi.number().integer().allow(null).description('Status of the response; null when there was none'),
  error: Joi.string()
    .allow(null)
    .description('Why there was no response: timeout, dns, blocked_address, connection_refused, tls …'),
  excerpt: Joi.string().allow('').description('The first KB of the response body'),
});

export interface DeliveryView {
  delivery_id: string;
  webhook_id: string;
  event_id: string;
  event_type: string;
  subject_id: string;
  status: string;
  attempts: number;
  next_attempt_at: string | null;
  created_at: string;
  ended_at: string | null;
  attempt_log: AttemptView[];
}
export const deliveryView = view<DeliveryView>('WebhookDelivery', {
  delivery_id: id(),
  webhook_id: id(),
  event_id: id().description('The webhook-id header: the same at every attempt and resend'),
  event_type: Joi.string(),
  subject_id: id().description('tx_id, wallet_id or factor_id the event is about'),
  status: deliveryStatus(),
  attempts: Joi.number().integer().min(0),
  next_attempt_at: timestamp().allow(null),
  created_at: timestamp(),
  ended_at: timestamp().allow(null),
  attempt_log: Joi.array().items(attemptView).description('The last 20 attempts, oldest first'),
});
export const deliveryPage = pageSchema(deliveryView, 'WebhookDeliveryPage');

export interface ResentView {
  resent: number;
  has_more: boolean;
}
export const resentView = view<ResentView>('ResentDeliveries', {
  resent: Joi.number().integer().min(0).description('Number of failed deliveries that are resent, oldest first, at most 1000'),
  has_more: Joi.boolean().description('True when failed deliveries remain: repeat the request'),
});
