import { getCaller, getIdempotencyContext } from '../http/context';
import { presentPage, toLimitOffset } from '../http/pagination';
import { resourceId, withoutId } from '../http/resource-id';
import { locate } from '../http/router';
import type { Route, DocumentedMiddleware } from '../http/route';
import { body, getBody, query, getQuery } from '../http/validate';
import { mfaFailures, toMfaRequest } from '../mfa/request';
import { deliveryRoutes } from './delivery-routes';
import type { DeliveryService } from './delivery-service';
import { presentWebhook, presentWebhookWithSecret } from './presenter';
import {
  createWebhook,
  deletedWebhookView,
  deleteWebhook,
  listWebhooks,
  rotateSecret,
  updateWebhook,
  webhookPage,
  webhookView,
  webhookWithSecretView,
} from './schema';
import type { WebhookService } from './service';

const tag = 'Webhooks';

export interface WebhookRoutes {
  webhooks: WebhookService;
  deliveries: DeliveryService;
  authenticate: DocumentedMiddleware;
  idempotent: DocumentedMiddleware;
  /** For responses that contain a secret. */
  idempotentSealed: DocumentedMiddleware;
}

export function webhookRoutes(dependencies: WebhookRoutes): Route[] {
  const { webhooks, deliveries, authenticate, idempotent, idempotentSealed } = dependencies;
  return [
    {
      method: 'post',
      path: '/webhooks',
      id: 'createWebhook',
      tag,
      summary: 'Create a webhook: events are sent to a url',
      description:
        'Requests are signed according to Standard Webhooks; the secret is shown in this response only. At most 10 per client.',
      middleware: [authenticate, body(createWebhook), idempotentSealed],
      answer: { status: 201, description: 'The webhook with its secret', schema: webhookWithSecretView, location: true },
      fails: ['business_error', ...mfaFailures],
      handle: async (ctx) => {
        const created = await webhooks.create(toMfaRequest(ctx), getIdempotencyContext(ctx), getBody(ctx, createWebhook));
        locate(ctx, `/webhooks/${created.webhook.webhookId}`);
        ctx.body = presentWebhookWithSecret(created);
      },
    },
    {
      method: 'get',
      path: '/webhooks',
      id: 'listWebhooks',
      tag,
      summary: 'List webhooks, newest first',
      middleware: [authenticate, query(listWebhooks)],
      answer: { status: 200, description: 'One page', schema: webhookPage },
      fails: [],
      handle: async (ctx) => {
        const page = getQuery(ctx, listWebhooks);
        const [rows, total] = await webhooks.list(getCaller(ctx).clientId, toLimitOffset(page));
        ctx.body = presentPage(rows, total, page, presentWebhook);
      },
    },
    {
      method: 'get',
      path: '/webhooks/:id',
      id: 'getWebhook',
      tag,
      summary: 'Read a webhook',
      middleware: [authenticate],
      answer: { status: 200, description: 'The webhook', schema: webhookView },
      fails: ['not_found'],
      handle: async (ctx) => {
        ctx.body = presentWebhook(await webhooks.get(getCaller(ctx).clientId, resourceId(ctx, 'id')));
      },
    },
    {
      method: 'put',
      path: '/webhooks/:id',
      id: 'updateWebhook',
      tag,
      summary: 'Change a webhook',
      description: 'Omitted fields keep their values.',
      middleware: [authenticate, body(updateWebhook)],
      answer: { status: 200, description: 'The changed webhook', schema: webhookView },
      fails: ['not_found', ...mfaFailures],
      handle: async (ctx) => {
        const changed = await webhooks.update(toMfaRequest(ctx), resourceId(ctx, 'id'), getBody(ctx, updateWebhook));
        ctx.body = presentWebhook(changed);
      },
    },
    {
      method: 'delete',
      path: '/webhooks/:id',
      id: 'deleteWebhook',
      tag,
      summary: 'Delete a webhook with its secrets and its deliveries',
      middleware: [authenticate, body(deleteWebhook)],
      answer: { status: 200, description: 'Deleted', schema: deletedWebhookView },
      fails: ['not_found', ...mfaFailures],
      handle: async (ctx) => {
        const id = resourceId(ctx, 'id');
        await webhooks.delete(toMfaRequest(ctx), id);
        ctx.body = { webhook_id: id, deleted: true };
      },
    },
    {
      method: 'post',
      path: '/webhooks/:id/rotate-secret',
      id: 'rotateWebhookSecret',
      tag,
      summary: 'Replace the signing secret',
      description: 'Until the overlap ends, requests carry one signature for each of the two secrets.',
      middleware: [authenticate, body(rotateSecret), idempotentSealed],
      answer: { status: 200, description: 'The webhook with its new secret', schema: webhookWithSecretView },
      fails: ['not_found', ...mfaFailures],
      handle: async (ctx) => {
        const rotated = await webhooks.rotate(
          toMfaRequest(ctx),
          resourceId(ctx, 'id'),
          getIdempotencyContext(ctx),
          getBody(ctx, rotateSecret),
        );
        ctx.body = presentWebhookWithSecret(rotated);
      },
    },
    ...deliveryRoutes({ deliveries, authenticate, idempotent, tag }),
    withoutId('/webhooks/', tag, authenticate),
  ];
}
