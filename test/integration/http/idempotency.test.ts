import { newId } from '../../../src/platform/ids';
import { buildTotp, randomAddress, totpCode } from '../../factories';
import { boxes, buildFunded, buildTenant, createFixture, expectProblem, type Fixture, type Funded, type Tenant } from './fixture';

let fixture: Fixture;
let funded: Funded;
beforeAll(async () => {
  fixture = await createFixture();
  funded = await buildFunded(fixture, fixture.demo);
});
afterAll(() => fixture.close());

const to = randomAddress();
const transferBody = (changes: object = {}) => ({
  from_address: funded.account.address,
  to_address: to,
  chain: 'ethereum',
  token_symbol: 'USDC',
  amount: '1',
  ...changes,
});
const wallet = (key: string, body: unknown = { wallet_name: 'w' }, tenant?: Tenant) =>
  fixture.call('POST', '/wallets', { body, headers: { 'Idempotency-Key': key }, ...(tenant && { tenant }) });
const transfer = (key: string, changes: object = {}) =>
  fixture.call('POST', '/transfer', { body: transferBody(changes), headers: { 'Idempotency-Key': key } });
const age = (key: string, by: string) =>
  fixture.database.query(`update idempotency_keys set created_at = now() - $2::interval where key = $1`, [key, by]);
const count = async (sql: string, parameters: unknown[] = []) =>
  Number((await fixture.database.query<{ n: string }[]>(`select count(*) as n from ${sql}`, parameters))[0]?.n);

describe('the same key and body', () => {
  test('get the first answer again, with the same bytes', async () => {
    const key = newId();
    const first = await wallet(key);
    const again = await wallet(key);
    expect(first.headers.get('idempotency-replayed')).toBeNull();
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect([again.status, again.text, again.headers.get('location'), again.headers.get('content-type')]).toEqual([
      201,
      first.text,
      first.headers.get('location'),
      first.headers.get('content-type'),
    ]);
  });

  test('with fields in another order are the same', async () => {
    const key = newId();
    const first = await wallet(key, '{"wallet_name":"a","description":"b"}');
    expect((await wallet(key, '{ "description": "b", "wallet_name": "a" }')).text).toBe(first.text);
  });

  test('with the addresses of a transfer in another letter case are the same', async () => {
    const key = newId();
    const first = await transfer(key);
    const { address } = funded.account;
    const again = await transfer(key, { from_address: address.toLowerCase(), to_address: `0x${to.slice(2).toUpperCase()}` });
    expect([again.status, again.text, again.headers.get('idempotency-replayed')]).toEqual([202, first.text, 'true']);
    expectProblem(await transfer(key, { to_address: randomAddress() }), 422, 'idempotency_key_reused');
  });

  test('20 at once create once and get equal answers', async () => {
    const key = newId();
    const answers = await Promise.all(Array.from({ length: 20 }, () => transfer(key)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.filter(({ headers }) => headers.get('idempotency-replayed') === null)).toHaveLength(1);
    expect(await count('transactions where idempotency_key = $1', [key])).toBe(1);
    await fixture.dispatch();
    expect(fixture.workflows.started.filter((id) => id === answers[0]?.body['tx_id'])).toHaveLength(1);
  });

  test('get a refusal again, request_id included', async () => {
    const key = newId();
    const first = await transfer(key, { amount: '999999' });
    expectProblem(first, 400, 'insufficient_balance');
    const again = await transfer(key, { amount: '999999' });
    expect([again.status, again.text, again.headers.get('idempotency-replayed')]).toEqual([400, first.text, 'true']);
  });

  test('of another client are independent', async () => {
    const key = newId();
    const first = await wallet(key);
    const theirs = await wallet(key, undefined, fixture.other);
    expect(theirs.status).toBe(201);
    expect(theirs.body['wallet_id']).not.toBe(first.body['wallet_id']);
  });

  test('after a day are a new request', async () => {
    const key = newId();
    const first = await wallet(key);
    await age(key, '24 hours 1 second');
    const again = await wallet(key);
    expect(again.body['wallet_id']).not.toBe(first.body['wallet_id']);
    expect(again.headers.get('idempotency-replayed')).toBeNull();
  });
});

describe('422 idempotency_key_reused', () => {
  test('another body', async () => {
    const key = newId();
    await wallet(key);
    expectProblem(await wallet(key, { wallet_name: 'other' }), 422, 'idempotency_key_reused');
  });
  test('another path', async () => {
    const key = newId();
    await wallet(key);
    expectProblem(await transfer(key), 422, 'idempotency_key_reused');
  });
});

describe('400 for the key itself', () => {
  test.each([
    ['256 characters', 'x'.repeat(256)],
    ['not ASCII', 'clé'],
    ['empty', ''],
  ])('%s', async (_, key) => {
    expectProblem(await wallet(key), 400, 'invalid_parameter', 'Idempotency-Key');
  });
  test('accepts 255 characters', async () => expect((await wallet('~'.repeat(255))).status).toBe(201));
});

describe('a request that is not valid', () => {
  test('does not use the key up', async () => {
    const key = newId();
    expectProblem(await wallet(key, {}), 400, 'invalid_parameter');
    expect((await wallet(key)).status).toBe(201);
  });
});

describe('5xx', () => {
  test('is not stored, and the retry runs under the same id', async () => {
    const key = newId();
    await fixture.database.query(`update chain_cursors set fee_levels_at = now() - interval '11 minutes'`);
    expectProblem(await transfer(key), 503, 'chain_unavailable');
    await fixture.database.query('update chain_cursors set fee_levels_at = now()');
    const [row] = await fixture.database.query<{ resource_id: string; response_status: number | null }[]>(
      `select * from idempotency_keys where key = $1`,
      [key],
    );
    expect(row?.response_status).toBeNull();
    const again = await transfer(key);
    expect(again.body).toMatchObject({ tx_id: row?.resource_id, status: 'PENDING' });
  });
});

describe('a crash', () => {
  const crashed = async (key: string, tenant: Tenant) => {
    // the rows after a crash between the work and the storing of the answer
    await fixture.database.query(
      `update idempotency_keys set response_status = null, response_body = null, leased_until = now() - interval '1 second' where key = $1 and client_id = $2`,
      [key, tenant.clientId],
    );
  };

  test('after the wallet was made: the retry gets that wallet', async () => {
    const key = newId();
    const first = await wallet(key);
    await crashed(key, fixture.demo);
    const again = await wallet(key);
    expect([again.status, again.body['wallet_id']]).toEqual([201, first.body['wallet_id']]);
  });
  test('after the account was made', async () => {
    const key = newId();
    const post = () =>
      fixture.call('POST', '/accounts', {
        body: { wallet_id: funded.wallet.walletId, chain: 'ethereum' },
        headers: { 'Idempotency-Key': key },
      });
    const first = await post();
    await crashed(key, fixture.demo);
    expect((await post()).body).toEqual(first.body);
  });
  test('after the asset was added: 201 and not asset_already_exists', async () => {
    const key = newId();
    const post = (headers = {}) =>
      fixture.call('POST', '/assets', { body: { account_id: funded.account.accountId, chain: 'base', symbol: 'USDC' }, headers });
    const first = await post({ 'Idempotency-Key': key });
    await crashed(key, fixture.demo);
    const again = await post({ 'Idempotency-Key': key });
    expect([again.status, again.body]).toEqual([201, first.body]);
    expectProblem(await post(), 400, 'asset_already_exists');
  });
  test('after the transfer was locked: the same transfer, locked once', async () => {
    const key = newId();
    const first = await transfer(key);
    await crashed(key, fixture.demo);
    const again = await transfer(key);
    expect([again.status, again.body['tx_id']]).toEqual([202, first.body['tx_id']]);
    expect(await count('transactions where idempotency_key = $1', [key])).toBe(1);
  });
  test('while the lease lasts, duplicates wait and get 409', async () => {
    const key = newId();
    await wallet(key);
    await fixture.database.query(
      `update idempotency_keys set response_status = null, leased_until = now() + interval '30 seconds' where key = $1`,
      [key],
    );
    expectProblem(await wallet(key), 409, 'idempotency_in_progress');
  }, 20_000);
});

describe('/transfer pays once, without a time limit', () => {
  test('days later the key returns the first transfer, whatever its state', async () => {
    const key = newId();
    const first = await transfer(key);
    await fixture.call('POST', `/transactions/${String(first.body['tx_id'])}/cancel`);
    await age(key, '9 days');
    const again = await transfer(key);
    expect([again.status, again.body['tx_id'], again.body['status']]).toEqual([202, first.body['tx_id'], 'CANCELLED']);
    expect(again.body['message']).toMatch(/has ended/);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
  });
  test('days later the key with another transfer is 422', async () => {
    const key = newId();
    await transfer(key);
    await age(key, '9 days');
    expectProblem(await transfer(key, { amount: '2' }), 422, 'idempotency_key_reused');
    await age(key, '9 days');
    expectProblem(await transfer(key, { memo: 'x' }), 422, 'idempotency_key_reused');
  });
  test('a retry gets its answer although the balance is spent meanwhile', async () => {
    const tenant = await buildTenant(fixture);
    const { account } = await buildFunded(fixture, tenant);
    const key = newId();
    const post = () =>
      fixture.call('POST', '/transfer', {
        tenant,
        body: transferBody({ from_address: account.address, amount: '1000' }),
        headers: { 'Idempotency-Key': key },
      });
    const first = await post();
    expect(first.status).toBe(202);
    await age(key, '2 days');
    expect((await post()).body['tx_id']).toBe(first.body['tx_id']);
  });
});

test('the periodic job removes old keys and keeps recent ones', async () => {
  const [old, recent] = [newId(), newId()];
  await wallet(old);
  await wallet(recent);
  await age(old, '26 hours');
  await fixture.resources.housekeeping.find(({ name }) => name.includes('idempotency'))?.run();
  expect([
    await count('idempotency_keys where key = $1', [old]),
    await count('idempotency_keys where key = $1', [recent]),
  ]).toEqual([0, 1]);
});

test('a wrong code or a lock does not use up the key: the next try may have another code', async () => {
  const tenant = await buildTenant(fixture);
  const secret = await buildTotp(fixture.database, boxes.totp, tenant);
  const key = newId();
  const address = randomAddress();
  const post = (code: string) =>
    fixture.call('POST', '/client/security-factors', {
      tenant,
      body: { factor_type: 'BLACKLIST', chain: 'ethereum', address, mfa_code: code },
      headers: { 'Idempotency-Key': key },
    });
  const wrong = ['000000', '000001', '000002', '000003'].find((code) =>
    [-1, 0, 1].every((step) => totpCode(secret, step) !== code),
  );
  expectProblem(await post(wrong ?? ''), 400, 'MFA_INVALID');
  await fixture.database.query(`update user_totp set locked_until = now() + interval '1 minute' where user_id = $1`, [
    tenant.userId,
  ]);
  expectProblem(await post(totpCode(secret)), 429, 'rate_limited');
  await fixture.database.query('update user_totp set locked_until = null where user_id = $1', [tenant.userId]);
  const added = await post(totpCode(secret));
  expect(added.status).toBe(201);
  const again = await post(totpCode(secret));
  expect([again.status, again.body, again.headers.get('idempotency-replayed')]).toEqual([201, added.body, 'true']);
});
