import { ProblemError } from '../../../client/src';
import { credentials, type FakeGateway, json, problem, reset, startFakeGateway } from './fake-gateway';

let fake: FakeGateway;
beforeEach(async () => {
  fake = await startFakeGateway();
});
afterEach(() => fake.close());

const tokensSeen = () => fake.seen.map(({ headers }) => headers.authorization);
const unauthorized = problem(401, 'unauthorized');

test('one token serves all requests at once, and is asked for with the key', async () => {
  const client = fake.client();
  await Promise.all(Array.from({ length: 20 }, () => client.get('/wallets')));
  await client.get('/wallets');
  expect(fake.tokens).toHaveLength(1);
  expect(fake.tokens[0]?.headers).toMatchObject({ 'x-api-key': credentials.apiKey, 'x-api-secret': credentials.apiSecret });
  expect(new Set(tokensSeen())).toEqual(new Set(['Bearer token-1']));
  for (const { headers } of fake.seen) expect(headers).not.toHaveProperty('x-api-secret');
});

test('a token is renewed half a minute before it expires', async () => {
  let nowMs = 1_000;
  const clock = jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
  try {
    const client = fake.client();
    await client.accessToken();
    nowMs += 869_000;
    await client.get('/wallets');
    nowMs += 2_000;
    await client.get('/wallets');
    expect(tokensSeen()).toEqual(['Bearer token-1', 'Bearer token-2']);
  } finally {
    clock.mockRestore();
  }
});

test('a token that lives no longer than the margin is renewed too', async () => {
  // of one that lives no longer than the margin, half is used
  fake.expiresIn = 0;
  const client = fake.client();
  await client.get('/wallets');
  await client.get('/wallets');
  expect(tokensSeen()).toEqual(['Bearer token-1', 'Bearer token-2']);
});

test('after a 401 one new token serves all that were refused, each of which is sent once more', async () => {
  const client = fake.client();
  await client.accessToken();
  fake.replies = [
    (response, seen) =>
      (seen.headers.authorization === 'Bearer token-1' ? unauthorized : json(200, { data: [] }))(response, seen),
  ];
  await Promise.all(Array.from({ length: 10 }, () => client.get('/wallets')));
  expect(fake.tokens).toHaveLength(2);
  expect(tokensSeen().filter((token) => token === 'Bearer token-1')).toHaveLength(10);
  expect(tokensSeen().filter((token) => token === 'Bearer token-2')).toHaveLength(10);
});

test('a second 401 is thrown', async () => {
  fake.replies = [unauthorized];
  await expect(fake.client().get('/wallets')).rejects.toMatchObject({ status: 401, code: 'unauthorized' });
  expect(tokensSeen()).toEqual(['Bearer token-1', 'Bearer token-2']);
});

test('nor is a token renewed twice for one request that is repeated for another reason', async () => {
  fake.replies = [unauthorized, problem(503, 'unavailable', {}, { 'retry-after': '0' }), unauthorized, json(200, { data: [] })];
  await expect(fake.client().get('/wallets')).rejects.toMatchObject({ code: 'unauthorized' });
  expect(fake.tokens).toHaveLength(2);
});

test('a request that is sent again with a new token keeps its key and body', async () => {
  fake.replies = [unauthorized, json(201, { wallet_id: 'w' })];
  await fake.client().post('/wallets', { params: { header: { 'Idempotency-Key': 'k' } }, body: { wallet_name: 'n' } });
  expect(fake.seen.map(({ headers, body }) => [headers['idempotency-key'], body])).toEqual([
    ['k', '{"wallet_name":"n"}'],
    ['k', '{"wallet_name":"n"}'],
  ]);
});

test('wrong credentials are not tried again, and are the error of all that wait', async () => {
  fake.tokenReplies = [problem(401, 'invalid_credentials'), problem(401, 'invalid_credentials')];
  const client = fake.client();
  const answers = await Promise.allSettled([client.get('/wallets'), client.get('/wallets')]);
  for (const answer of answers) expect(answer).toMatchObject({ reason: { code: 'invalid_credentials' } });
  expect((answers[0] as PromiseRejectedResult).reason).toBeInstanceOf(ProblemError);
  expect([fake.tokens.length, fake.seen.length]).toEqual([1, 0]);
});

test('the request for a token is repeated after a lost connection, 429 and 503', async () => {
  const soon = { 'retry-after': '0' };
  fake.tokenReplies = [reset, problem(429, 'rate_limited', {}, soon), problem(503, 'unavailable', {}, soon)];
  await fake.client().get('/wallets');
  expect(fake.tokens).toHaveLength(4);
  expect(tokensSeen()).toEqual(['Bearer token-4']);
});

test('one that stops waiting for the token does so at once, and does not keep it from the others', async () => {
  const client = fake.client();
  const controller = new AbortController();
  let answer: () => void = () => undefined;
  fake.tokenReplies = [
    (response, seen) => {
      answer = () => json(200, { token: 'late', expires_in: 900 })(response, seen);
      controller.abort(new Error('stopped'));
    },
  ];
  const stopped = client.get('/wallets', { signal: controller.signal });
  const other = client.get('/wallets');
  await expect(stopped).rejects.toThrow('stopped');
  answer();
  await other;
  expect(fake.tokens).toHaveLength(1);
  expect(tokensSeen()).toEqual(['Bearer late']);
});
