import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import type { SecretBox } from '../platform/secret-box';
import type { WebhookEntity } from './entity';

/** Owner of an endpoint's secret in the SecretBox. */
export const webhookSecretOwner = (webhookId: string): string => `webhook:${webhookId}`;

/** A signing secret in the format of Standard Webhooks: 32 random bytes in Base64. */
export const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

export const sealSecret = (box: SecretBox, webhookId: string, secret: string): Buffer =>
  box.seal(secret, webhookSecretOwner(webhookId));

/** @throws Error when the endpoint has no secret (deleted) or it cannot be decrypted. */
export function openSecret(box: SecretBox, { webhookId, secret }: Pick<WebhookEntity, 'webhookId' | 'secret'>): string {
  if (!secret) throw new Error(`webhook ${webhookId} has no secret`);
  return box.open(secret, webhookSecretOwner(webhookId));
}

type Secrets = Pick<WebhookEntity, 'webhookId' | 'secret' | 'previousSecret' | 'previousSecretUntil'>;

/**
 * The headers of one attempt (Standard Webhooks 1.0): event id, time of the attempt in seconds, and one signature for each valid
 * secret, of which there are two during the overlap after a rotation.
 */
export function signedHeaders(
  box: SecretBox,
  endpoint: Secrets,
  { eventId, at, body }: { eventId: string; at: Date; body: string },
): Record<string, string> {
  const secrets = [openSecret(box, endpoint)];
  if (endpoint.previousSecret && endpoint.previousSecretUntil && endpoint.previousSecretUntil > at)
    secrets.push(openSecret(box, { webhookId: endpoint.webhookId, secret: endpoint.previousSecret }));
  return {
    'webhook-id': eventId,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(eventId, at, body)).join(' '),
  };
}
