import { callerOf, creationOf } from '../http/context';
import { presentPage, sliceOf } from '../http/pagination';
import { resourceId, withoutId } from '../http/resource-id';
import { locate } from '../http/router';
import type { Route, Step } from '../http/steps';
import { body, bodyOf, query, queryOf } from '../http/validate';
import { mfaFailures, mfaRequestOf } from '../mfa/request';
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
  authenticate: Step;
  idempotent: Step;
  /** For answers that show a secret. */
  idempotentSealed: Step;
}

export function webhookRoutes(wiring: WebhookRoutes): Route[] {
  const { webhooks, deliveries, authenticate, idempotent, idempotentSealed } = wiring;
  return [
    {
      method: 'post',
      path: '/webhooks',
      id: 'createWebhook',
      tag,
      summary: 'Have events sent to a url',
      description:
        'Signed as Standard Webhooks says, with the secret that this answer shows and no other. At most 10 per client.',
      steps: [authenticate, body(createWebhook), idempotentSealed],
      answer: { status: 201, description: 'The webhook with its secret', schema: webhookWithSecretView, location: true },
      fails: ['business_error', ...mfaFailures],
      handle: async (ctx) => {
        const created = await webhooks.create(mfaRequestOf(ctx), creationOf(ctx), bodyOf(ctx, createWebhook));
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
      steps: [authenticate, query(listWebhooks)],
      answer: { status: 200, description: 'One page', schema: webhookPage },
      fails: [],
      handle: async (ctx) => {
        const page = queryOf(ctx, listWebhooks);
        const [rows, total] = await webhooks.list(callerOf(ctx).clientId, sliceOf(page));
        ctx.body = presentPage(rows, total, page, presentWebhook);
      },
    },
    {
      method: 'get',
      path: '/webhooks/:id',
      id: 'getWebhook',
      tag,
      summary: 'Read a webhook',
      steps: [authenticate],
      answer: { status: 200, description: 'The webhook', schema: webhookView },
      fails: ['not_found'],
      handle: async (ctx) => {
        ctx.body = presentWebhook(await webhooks.get(callerOf(ctx).clientId, resourceId(ctx, 'id')));
      },
    },
    {
      method: 'put',
      path: '/webhooks/:id',
      id: 'updateWebhook',
      tag,
      summary: 'Change a webhook',
      description: 'Fields that are left out stay as they are.',
      steps: [authenticate, body(updateWebhook)],
      answer: { status: 200, description: 'The webhook as it is now', schema: webhookView },
      fails: ['not_found', ...mfaFailures],
      handle: async (ctx) => {
        const changed = await webhooks.update(mfaRequestOf(ctx), resourceId(ctx, 'id'), bodyOf(ctx, updateWebhook));
        ctx.body = presentWebhook(changed);
      },
    },
    {
      method: 'delete',
      path: '/webhooks/:id',
      id: 'deleteWebhook',
      tag,
      summary: 'Delete a webhook with its secrets and its log',
      steps: [authenticate, body(deleteWebhook)],
      answer: { status: 200, description: 'Deleted', schema: deletedWebhookView },
      fails: ['not_found', ...mfaFailures],
      handle: async (ctx) => {
        const id = resourceId(ctx, 'id');
        await webhooks.delete(mfaRequestOf(ctx), id);
        ctx.body = { webhook_id: id, deleted: true };
      },
    },
    {
      method: 'post',
      path: '/webhooks/:id/rotate-secret',
      id: 'rotateWebhookSecret',
      tag,
      summary: 'Replace the signing secret',
      description: 'Until the overlap ends deliveries carry a signature by either secret.',
      steps: [authenticate, body(rotateSecret), idempotentSealed],
      answer: { status: 200, description: 'The webhook with its new secret', schema: webhookWithSecretView },
      fails: ['not_found', ...mfaFailures],
      handle: async (ctx) => {
        const rotated = await webhooks.rotate(
          mfaRequestOf(ctx),
          resourceId(ctx, 'id'),
          creationOf(ctx),
          bodyOf(ctx, rotateSecret),
        );
        ctx.body = presentWebhookWithSecret(rotated);
      },
    },
    ...deliveryRoutes({ deliveries, authenticate, idempotent, tag }),
    withoutId('/webhooks/', tag, authenticate),
  ];
}
