import { getCaller, getIdempotencyContext } from '../http/context';
import { presentPage, toLimitOffset } from '../http/pagination';
import { resourceId } from '../http/resource-id';
import type { Route, DocumentedMiddleware } from '../http/route';
import { body, getBody, noBody, query, getQuery } from '../http/validate';
import { presentDelivery } from './presenter';
import { deliveryPage, deliveryView, listDeliveries, resendFailed, resentView } from './schema';
import type { DeliveryService } from './delivery-service';

/** Deliveries of an endpoint: list, test, resend. */
export function deliveryRoutes({
  deliveries,
  authenticate,
  idempotent,
  tag,
}: {
  deliveries: DeliveryService;
  authenticate: DocumentedMiddleware;
  idempotent: DocumentedMiddleware;
  tag: string;
}): Route[] {
  return [
    {
      method: 'post',
      path: '/webhooks/:id/test',
      id: 'testWebhook',
      tag,
      summary: 'Send a webhook.test event',
      description: 'Refused (business_error) while the webhook is disabled or 200 test events are pending.',
      middleware: [authenticate, noBody, idempotent],
      answer: { status: 200, description: 'The delivery; its progress is shown in the list of deliveries', schema: deliveryView },
      fails: ['not_found', 'business_error', 'unavailable', 'outcome_unknown'],
      handle: async (ctx) => {
        const delivery = await deliveries.test(getCaller(ctx).clientId, resourceId(ctx, 'id'), getIdempotencyContext(ctx));
        ctx.body = presentDelivery(delivery);
      },
    },
    {
      method: 'get',
      path: '/webhooks/:id/deliveries',
      id: 'listWebhookDeliveries',
      tag,
      summary: 'List deliveries with their attempts, newest event first',
      description: 'Kept for 30 days.',
      middleware: [authenticate, query(listDeliveries)],
      answer: { status: 200, description: 'One page', schema: deliveryPage },
      fails: ['not_found'],
      handle: async (ctx) => {
        const { status, ...page } = getQuery(ctx, listDeliveries);
        const { clientId } = getCaller(ctx);
        const [rows, total] = await deliveries.list(clientId, resourceId(ctx, 'id'), status, toLimitOffset(page));
        ctx.body = presentPage(rows, total, page, presentDelivery);
      },
    },
    {
      method: 'post',
      path: '/webhooks/:id/deliveries/:delivery_id/resend',
      id: 'resendWebhookDelivery',
      tag,
      summary: 'Resend a delivery',
      description: 'With the same event id; the retry schedule starts again. One that waits for its next retry is attempted now.',
      middleware: [authenticate, noBody],
      answer: { status: 200, description: 'The delivery', schema: deliveryView },
      fails: ['not_found', 'business_error', 'unavailable', 'outcome_unknown'],
      handle: async (ctx) => {
        const { clientId } = getCaller(ctx);
        ctx.body = presentDelivery(await deliveries.resend(clientId, resourceId(ctx, 'id'), resourceId(ctx, 'delivery_id')));
      },
    },
    {
      method: 'post',
      path: '/webhooks/:id/resend-failed',
      id: 'resendFailedWebhookDeliveries',
      tag,
      summary: 'Resend all failed deliveries of events since a given time',
      middleware: [authenticate, body(resendFailed)],
      answer: { status: 200, description: 'Number of deliveries queued', schema: resentView },
      fails: ['not_found', 'business_error', 'unavailable', 'outcome_unknown'],
      handle: async (ctx) => {
        const since = new Date(getBody(ctx, resendFailed).since);
        const result = await deliveries.resendFailed(getCaller(ctx).clientId, resourceId(ctx, 'id'), since);
        ctx.body = { resent: result.resent, has_more: result.hasMore };
      },
    },
  ];
}
