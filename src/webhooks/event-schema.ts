import Joi from 'joi';
import { toComponentName } from '../http/openapi/components';
import type { EventDocs } from '../http/openapi/events';
import { id, oneOf, timestamp, view } from '../http/schemas';
import { factorView } from '../security-factors/schema';
import { eventTransactionView } from '../transactions/schema';
import { walletView } from '../wallets/schema';
import type { EventKind } from './events';

/** What each kind of event has as `data`, and when it is sent. */
const events: Record<EventKind, { summary: string; data: Joi.Schema }> = {
  'wallet.active': { summary: 'A wallet can be used', data: walletView },
  'transaction.created': { summary: 'A transfer was accepted; its funds are locked', data: eventTransactionView },
  'transaction.updated': {
    summary: 'A transfer, or a deposit that a reorganisation took back, changed its status',
    data: eventTransactionView,
  },
  'transaction.needs_attention': {
    summary: 'It waits for an operator; its funds stay locked',
    data: eventTransactionView,
  },
  'deposit.detected': { summary: 'A deposit was seen, perhaps before a block holds it', data: eventTransactionView },
  'deposit.confirmed': { summary: 'A deposit was credited', data: eventTransactionView },
  'security_factor.changed': {
    summary: 'An entry of the address lists was changed',
    data: (factorView as Joi.ObjectSchema)
      .keys({
        updated_at: timestamp().required(),
        change: oneOf('SecurityFactorChange', ['created', 'updated', 'activated', 'deactivated', 'deleted']).required(),
      })
      .meta({ 'x-component': 'ChangedSecurityFactor' }),
  },
  'webhook.disabled': {
    summary: 'Another of your webhooks was disabled',
    data: Joi.object({
      webhook_id: id().required(),
      url: Joi.string().required(),
      reason: oneOf('WebhookDisabledByGateway', ['gone', 'failing']).required(),
      disabled_at: timestamp().required(),
    }),
  },
  'webhook.test': {
    summary: 'Sent to one endpoint by POST /webhooks/{id}/test',
    data: Joi.object({ webhook_id: id().required(), message: Joi.string().required() }),
  },
};

/** Every event for the OpenAPI document. */
export const eventDocs: (EventDocs & { kind: EventKind })[] = (Object.keys(events) as EventKind[]).map((kind) => ({
  kind,
  summary: events[kind].summary,
  body: view(`${toComponentName(kind)}Event`, {
    type: Joi.string().valid(kind),
    timestamp: timestamp().description('When it happened'),
    data: events[kind].data,
  }),
}));
