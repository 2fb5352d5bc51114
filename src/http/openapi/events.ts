import type Joi from 'joi';
import { type Components, type Json, toComponentName } from './components';

/** An event that webhook endpoints are sent. */
export interface EventDocs {
  /** Such as `deposit.confirmed`. */
  kind: string;
  summary: string;
  /** The whole body of the request. */
  body: Joi.ObjectSchema;
}

/** Standard Webhooks, https://www.standardwebhooks.com */
const signed = {
  'webhook-id': 'Id of the event: the same at every attempt and resend',
  'webhook-timestamp': 'Time of the attempt, Unix seconds',
  'webhook-signature': 'Signatures of id, timestamp and body, separated by spaces: `v1,<base64>`',
};

/** `webhooks` of the document: the requests that the gateway sends. */
export function toWebhooks(events: EventDocs[], components: Components): Json {
  const parameters = Object.entries(signed).map(([name, description]) =>
    components.named('parameters', toComponentName(name), {
      ...{ name, in: 'header', required: true, description },
      schema: { type: 'string' },
    }),
  );
  return Object.fromEntries(
    events.map(({ kind, summary, body }) => [
      kind,
      {
        post: {
          operationId: `on_${kind.replace(/\W/g, '_')}`,
          tags: ['Webhooks'],
          summary,
          security: [],
          parameters,
          requestBody: { required: true, content: { 'application/json': { schema: components.toSchema(body) } } },
          responses: {
            '2XX': { description: 'Received' },
            '410': { description: 'The endpoint is gone: it is disabled' },
            '4XX': { description: 'Anything else is sent again later' },
          },
        },
      },
    ]),
  );
}
