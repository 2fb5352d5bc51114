import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { GatewayClient, type Item, ProblemError, verifyWebhook, WebhookSignatureError } from '../../client/src';
import { forgetUsers, newUser, type TestUser } from '../crash/users';
import { randomAddress } from '../factories';
import { type Receiver, startReceiver } from '../integration/webhooks/receiver';
import { fund, stack, waitFor } from '../stack/client';
import { openDatabase } from '../stack/database';

/** client/ on the running stack, as a program of a client uses it. */

const chain = 'ethereum';
let database: DataSource;
let receiver: Receiver;
let user: TestUser;
let client: GatewayClient;
beforeAll(async () => {
  database = await openDatabase(stack().postgres.url, { poolSize: 1 });
  receiver = await startReceiver();
  user = await newUser(database);
  const { api_key: apiKey, api_secret: apiSecret } = user.api.credentials;
  client = new GatewayClient({ baseUrl: stack().base_url, apiKey, apiSecret });
});
afterAll(async () => {
  await forgetUsers(database);
  await Promise.all([receiver.close(), database.destroy()]);
});

const withKey = () => ({ params: { header: { 'Idempotency-Key': randomUUID() } } });
const all = async <T>(list: AsyncIterable<T>): Promise<T[]> => {
  const items = [];
  for await (const item of list) items.push(item);
  return items;
};

test('wallet, account, deposit, transfer to its end, and its webhooks', async () => {
  const webhook = await client.post('/webhooks', {
    ...withKey(),
    body: { url: receiver.url, events: null, mfa_code: user.code },
  });
  const { wallet_id } = await client.post('/wallets', { ...withKey(), body: { wallet_name: 'of the client' } });
  await client.waitForWallet(wallet_id, { timeoutMs: 420_000 });
  const account = await client.post('/accounts', { ...withKey(), body: { wallet_id, chain } });
  const { account_id, address } = account;
  await client.post('/assets', { ...withKey(), body: { account_id, chain, symbol: 'ETH' } });
  await fund(chain, 'ETH', address, '1');
  await waitFor(
    async () => {
      const assets: Item<'/assets'>[] = await all(client.list('/assets', { params: { query: { account_id } } }));
      return assets.some(({ balance }) => balance === '1');
    },
    { timeoutMs: 120_000 },
  );

  const key = randomUUID();
  const transfer = { from_address: address, to_address: randomAddress(), chain, token_symbol: 'ETH', amount: '0.25' };
  const accepted = await client.transfer(key, transfer);
  const seen = new Set<string>();
  const ended = await client.waitForTransfer(accepted.tx_id, { timeoutMs: 300_000, onRead: ({ status }) => seen.add(status) });
  expect(ended).toMatchObject({ tx_id: accepted.tx_id, status: 'CONFIRMED', amount: '0.25', failure: null });
  expect([...seen].at(-1)).toBe('CONFIRMED');
  // once more, as after a crash: the first answer, and no second transfer
  expect((await client.transfer(key, transfer)).tx_id).toBe(accepted.tx_id);
  const outgoing = await all(client.list('/transactions', { params: { query: { account_id, page_size: 1 } } }));
  expect(outgoing.map(({ tx_id: id, status }) => [id === accepted.tx_id, status])).toEqual([
    [true, 'CONFIRMED'],
    [false, 'CONFIRMED'],
  ]);

  const verified = () => receiver.received.map(({ body, headers }) => verifyWebhook(webhook.secret, body, headers).event);
  const confirmed = await waitFor(
    () =>
      verified().find(
        ({ type, data }) => type === 'transaction.updated' && data.tx_id === accepted.tx_id && data.status === 'CONFIRMED',
      ),
    { timeoutMs: 120_000 },
  );
  expect(confirmed).toMatchObject({ data: { amount: '0.25', tx_hash: ended.tx_hash } });
  const [first] = receiver.received;
  expect(() => verifyWebhook(webhook.secret, `${first?.body} `, first?.headers ?? {})).toThrow(WebhookSignatureError);
}, 1_800_000);

test('a refusal has its code, the field and the id of the request', async () => {
  const refused = client.post('/wallets', { ...withKey(), body: { wallet_name: '' } });
  const error = await refused.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(ProblemError);
  expect(error).toMatchObject({
    status: 400,
    code: 'invalid_parameter',
    field: 'wallet_name',
    requestId: expect.stringMatching(/./),
  });
});

test('wrong credentials are refused once, and not shown', async () => {
  const apiSecret = `wrong-${randomUUID()}`;
  const { api_key: apiKey } = user.api.credentials;
  const error = await new GatewayClient({ baseUrl: stack().base_url, apiKey, apiSecret })
    .get('/wallets')
    .catch((reason: unknown) => reason);
  expect(error).toMatchObject({ status: 401, code: 'invalid_credentials', attempts: 1 });
  expect(JSON.stringify(error) + String((error as Error).stack)).not.toContain(apiSecret);
});
