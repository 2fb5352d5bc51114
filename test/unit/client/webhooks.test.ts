import { Webhook } from 'standardwebhooks';
import { verifyWebhook, type WebhookEvent, WebhookSignatureError } from '../../../client/src';

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const other = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;
const sent = { type: 'webhook.test', timestamp: '2026-01-01T00:00:00.000Z', data: { webhook_id: 'w', message: 'é' } };
const text = JSON.stringify(sent);
const signed = (body = text, at = new Date(), by = secret) => ({
  'webhook-id': 'event-1',
  'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
  'webhook-signature': new Webhook(by).sign('event-1', at, body),
});
const minutesAgo = (count: number) => new Date(Date.now() - count * 60_000);

/** Compiles only if the kinds tell the events apart. */
const txIdOf = (event: WebhookEvent): string | null => {
  switch (event.type) {
    case 'deposit.confirmed':
    case 'transaction.updated':
    case 'transaction.needs_attention':
      return `${event.data.tx_id} ${event.data.sequence}`;
    case 'webhook.test':
      return event.data.message;
    default:
      return null;
  }
};

test.each([
  ['text', text, signed()],
  ['a buffer', Buffer.from(text), signed()],
  ['a part of a larger buffer', new Uint8Array(Buffer.from(`xx${text}`)).subarray(2), signed()],
  ['Headers', text, new Headers(signed())],
  [
    'headers of any letter case',
    text,
    Object.fromEntries(Object.entries(signed()).map(([name, value]) => [name.toUpperCase(), value])),
  ],
  [
    'a signature by each of two secrets',
    text,
    {
      ...signed(),
      'webhook-signature': `${signed(text, new Date(), other)['webhook-signature']} ${signed()['webhook-signature']}`,
    },
  ],
  ['four minutes ago', text, signed(text, minutesAgo(4))],
])('is verified: %s', (_, body, headers) => {
  const { id, event } = verifyWebhook(secret, body, headers);
  expect({ id, event }).toEqual({ id: 'event-1', event: sent });
  expect(txIdOf(event)).toBe('é');
});

test.each([
  ['another body', `${text} `, signed()],
  ['another secret', text, signed(text, new Date(), other)],
  ['another id', text, { ...signed(), 'webhook-id': 'event-2' }],
  ['another time', text, { ...signed(), 'webhook-timestamp': String(Math.floor(Date.now() / 1000) - 60) }],
  ['six minutes ago', text, signed(text, minutesAgo(6))],
  ['in six minutes', text, signed(text, minutesAgo(-6))],
  ['no signature', text, { ...signed(), 'webhook-signature': undefined }],
  ['a signature without its value', text, { ...signed(), 'webhook-signature': 'v1' }],
  ['two ids', text, { ...signed(), 'webhook-id': ['event-1', 'event-1'] }],
  ['two ids in different letter case', text, { ...signed(), 'Webhook-Id': 'event-1' }],
  ['no headers', text, {}],
  ['signed text that is no JSON', 'whsec_', signed('whsec_')],
  ['signed JSON that is no event', '[]', signed('[]')],
  ['nothing, signed', '', signed('')],
  ['parsed JSON', sent as never, signed()],
  ['no body', undefined as never, signed()],
])('is refused: %s', (_, body: string, headers) => {
  let error: unknown;
  try {
    verifyWebhook(secret, body, headers);
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toBeInstanceOf(WebhookSignatureError);
  expect((error as Error).message).not.toContain('whsec_');
});

test('a secret that is none is not shown', () => {
  for (const wrong of ['whsec_###', '', 'whsec_'])
    expect(() => verifyWebhook(wrong, text, signed())).toThrow(
      new TypeError('the secret of the webhook is not one: it begins with whsec_'),
    );
});
