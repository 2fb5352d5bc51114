import { types } from 'node:util';
import { Webhook } from 'standardwebhooks';
import { WebhookSignatureError } from './errors';
import type { webhooks } from './generated';

type Kind = keyof webhooks;

/** The body of every kind of webhook, told apart by `type`. The gateway may add kinds: ignore those that you do not know. */
export type WebhookEvent = { [K in Kind]: webhooks[K]['post']['requestBody']['content']['application/json'] }[Kind];

export interface VerifiedWebhook {
  /** `webhook-id`: the same at every attempt. Store it, and ignore what you have stored: an event may arrive twice. */
  id: string;
  event: WebhookEvent;
}

type ReceivedHeaders = Headers | Record<string, string | string[] | undefined>;

const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const;

/**
 * Verifies a webhook as Standard Webhooks defines it: its signature, and that its timestamp is at most 5 minutes off.
 * @param secret `whsec_…`, from the answer that created the webhook
 * @param body the bytes as they were received: parsed JSON made into text again is something else
 * @throws WebhookSignatureError for anything that is not to be believed; TypeError if the secret is not one
 */
export function verifyWebhook(secret: string, body: string | Uint8Array, headers: ReceivedHeaders): VerifiedWebhook {
  const webhook = webhookOf(secret);
  // such as the object that a parser of JSON in the program has made of it
  if (typeof body !== 'string' && !types.isUint8Array(body))
    throw new WebhookSignatureError('the body has to be the text or the bytes that were received');
  const given = Object.fromEntries(names.map((name) => [name, headerOf(headers, name)]));
  const text = typeof body === 'string' ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  let event: unknown;
  try {
    event = webhook.verify(text, given);
  } catch (error) {
    // its own errors show nothing of the body, those of the parser do
    throw new WebhookSignatureError(error instanceof SyntaxError ? 'the body is no JSON' : (error as Error).message);
  }
  if (typeof event !== 'object' || event === null || !('type' in event)) throw new WebhookSignatureError('the body is no event');
  return { id: given['webhook-id'] ?? '', event: event as WebhookEvent };
}

function webhookOf(secret: string): Webhook {
  try {
    return new Webhook(secret);
  } catch {
    // without the cause, which may show it
    throw new TypeError('the secret of the webhook is not one: it begins with whsec_');
  }
}

/** One that is there twice is not believed. */
function headerOf(headers: ReceivedHeaders, name: string): string {
  if (headers instanceof Headers) return headers.get(name) ?? '';
  const [value, second] = Object.entries(headers)
    .filter(([key]) => key.toLowerCase() === name)
    .flatMap(([, values]) => values ?? []);
  return second === undefined ? (value ?? '') : '';
}
