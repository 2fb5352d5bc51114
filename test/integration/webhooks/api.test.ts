import { randomBytes, randomUUID } from 'node:crypto';
import { MfaService } from '../../../src/mfa/service';
import { resealSecrets } from '../../../src/cli/reseal-secrets';
import { SecretBox } from '../../../src/platform/secret-box';
import { WebhookEntity } from '../../../src/webhooks/entity';
import { WebhookRepository } from '../../../src/webhooks/repository';
import { openSecret } from '../../../src/webhooks/secrets';
import { WebhookService } from '../../../src/webhooks/service';
import { TargetGuard, createTargetGuard } from '../../../src/webhooks/ssrf-guard';
import { buildTotp, totpCode } from '../../factories';
import { boxes, expectProblem, type Tenant, webhookKey } from '../http/fixture';
import { createWebhookFixture, type WebhookFixture } from './fixture';

const box = boxes.webhooks;
let fixture: WebhookFixture;
let tenant: Tenant;
beforeAll(async () => {
  fixture = await createWebhookFixture();
});
afterAll(() => fixture.close());
beforeEach(async () => {
  tenant = await fixture.newTenant();
});

const audits = async (clientId: string): Promise<{ action: string; detail: object; actor_id: string; subject_id: string }[]> =>
  fixture.database.query(
    `select action, detail, actor_id, subject_id from audit_events where client_id = $1 and action like 'webhook.%' order by at`,
    [clientId],
  );

test('create, read, list, change and delete, each with its audit row', async () => {
  const created = await fixture.act(tenant, 'POST', '/webhooks', {
    url: fixture.receiver.url,
    description: 'books',
    events: ['deposit.confirmed'],
  });
  expect(created.status).toBe(201);
  expect(created.body).toEqual({
    webhook_id: expect.any(String),
    url: fixture.receiver.url,
    description: 'books',
    events: ['deposit.confirmed'],
    status: 'enabled',
    disabled_reason: null,
    disabled_at: null,
    failing_since: null,
    previous_secret_valid_until: null,
    created_at: expect.stringMatching(/Z$/),
    updated_at: expect.stringMatching(/Z$/),
    secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
  });
  const path = `/webhooks/${String(created.body['webhook_id'])}`;
  expect(created.headers.get('location')).toBe(`/api/v1${path}`);

  const { secret, ...shown } = created.body as unknown as { secret: string };
  expect((await fixture.call('GET', path, { tenant })).body).toEqual(shown);
  expect((await fixture.call('GET', '/webhooks', { tenant })).body).toEqual({ data: [shown], total: 1, has_more: false });
  const stored = JSON.stringify(await fixture.database.query('select * from webhook_endpoints'));
  expect(stored).not.toContain(secret);

  const changed = await fixture.act(tenant, 'PUT', path, { events: null, status: 'disabled' });
  expect(changed).toMatchObject({
    status: 200,
    body: { events: null, status: 'disabled', disabled_reason: 'client', description: 'books' },
  });
  expect((await fixture.act(tenant, 'PUT', path, { status: 'enabled' })).body).toMatchObject({
    disabled_reason: null,
    disabled_at: null,
  });

  expect((await fixture.act(tenant, 'DELETE', path)).body).toEqual({ webhook_id: created.body['webhook_id'], deleted: true });
  expectProblem(await fixture.call('GET', path, { tenant }), 404, 'not_found');
  expectProblem(await fixture.act(tenant, 'DELETE', path), 404, 'not_found');
  expect((await fixture.call('GET', '/webhooks', { tenant })).body).toEqual({ data: [], total: 0, has_more: false });
  const rows = await audits(tenant.clientId);
  expect(rows.map(({ action }) => action)).toEqual(['webhook.created', 'webhook.updated', 'webhook.updated', 'webhook.deleted']);
  expect(rows[0]).toMatchObject({
    actor_id: tenant.userId,
    subject_id: created.body['webhook_id'],
    detail: { host: expect.any(String) },
  });
  expect(rows[1]?.detail).toEqual({ fields: 'events,status', status: 'disabled' });
});

test.each([
  ['no url', {}, 'url'],
  ['a url that is none', { url: 'hooks' }, 'url'],
  ['another scheme', { url: 'ftp://example.com/' }, 'url'],
  ['credentials', { url: 'http://a:b@127.0.0.1/' }, 'url'],
  ['a host that does not resolve', { url: 'http://does-not-exist.invalid/' }, 'url'],
  ['an unknown kind', { url: 'http://127.0.0.1/', events: ['wallet.deleted'] }, 'events.0'],
  ['no kind', { url: 'http://127.0.0.1/', events: [] }, 'events'],
  ['an unknown field', { url: 'http://127.0.0.1/', secret: 'whsec_mine' }, 'secret'],
  ['a code of another form', { url: 'http://127.0.0.1/', mfa_code: '12345' }, 'mfa_code'],
])('refused: %s', async (_, body, field) => {
  const { mfa_code, ...rest } = body as { mfa_code?: string };
  const answer = mfa_code
    ? await fixture.call('POST', '/webhooks', { tenant, body })
    : await fixture.act(tenant, 'POST', '/webhooks', rest);
  expectProblem(answer, 400, 'invalid_parameter', field);
});

test('changes need a second factor', async () => {
  const { webhookId } = await fixture.endpoint(tenant);
  await fixture.database.query('delete from user_totp where user_id = $1', [tenant.userId]);
  const changes = [
    ['POST', '/webhooks', { url: fixture.receiver.url }],
    ['PUT', `/webhooks/${webhookId}`, { description: 'x' }],
    ['DELETE', `/webhooks/${webhookId}`, {}],
    ['POST', `/webhooks/${webhookId}/rotate-secret`, {}],
  ] as const;
  for (const [method, path, body] of changes)
    expectProblem(await fixture.call(method, path, { tenant, body }), 400, 'MFA_NOT_ENABLED');
  const secret = await buildTotp(fixture.database, boxes.totp, tenant);
  for (const [method, path, body] of changes)
    expectProblem(await fixture.call(method, path, { tenant, body }), 400, 'MFA_REQUIRED');
  const wrong = String((Number(totpCode(secret)) + 1) % 1_000_000).padStart(6, '0');
  for (const [method, path, body] of changes)
    expectProblem(await fixture.call(method, path, { tenant, body: { ...body, mfa_code: wrong } }), 400, 'MFA_INVALID');
  expect((await audits(tenant.clientId)).map(({ action }) => action)).toEqual(['webhook.created']);
  expect((await fixture.call('GET', '/webhooks', { tenant })).body).toMatchObject({ total: 1, data: [{ description: '' }] });
});

test('a name is looked up once the second factor is right, and for three seconds at most', async () => {
  const { database } = fixture;
  const { webhookId } = await fixture.endpoint(tenant);
  const asked: string[] = [];
  const targets = TargetGuard.publicOnly((name) => {
    asked.push(name);
    return new Promise(() => undefined);
  });
  const service = new WebhookService({
    webhooks: new WebhookRepository(database),
    mfa: new MfaService(database, boxes.totp),
    box,
    targets,
  });
  await database.query('delete from user_totp where user_id = $1', [tenant.userId]);
  const secret = await buildTotp(database, boxes.totp, tenant);
  const wrong = String((Number(totpCode(secret)) + 1) % 1_000_000).padStart(6, '0');
  const request = (code: string) => ({
    caller: { clientId: tenant.clientId, userId: tenant.userId, keyId: '' },
    code,
    operation: 'x',
    requestId: 'r',
  });
  const url = 'https://vault.internal.example/';
  const creation = { resourceId: randomUUID(), idempotencyKey: null, firstAttemptAt: null, storeAnswer: () => Promise.resolve() };
  await expect(service.create(request(wrong), creation, { url })).rejects.toMatchObject({ code: 'MFA_INVALID' });
  await expect(service.update(request(wrong), webhookId, { url })).rejects.toMatchObject({ code: 'MFA_INVALID' });
  await expect(service.update(request(wrong), webhookId, { url: 'http://x/' })).rejects.toMatchObject({
    code: 'invalid_parameter',
  });
  expect(asked).toEqual([]);
  const begun = Date.now();
  await expect(service.update(request(totpCode(secret)), webhookId, { url })).rejects.toMatchObject({
    code: 'invalid_parameter',
  });
  expect(asked).toEqual(['vault.internal.example']);
  expect(Date.now() - begun).toBeLessThan(20_000);
});

test('another client finds nothing and changes nothing', async () => {
  const { webhookId } = await fixture.endpoint(tenant);
  const { body } = await fixture.call('POST', `/webhooks/${webhookId}/test`, { tenant });
  const other = await fixture.newTenant();
  const path = `/webhooks/${webhookId}`;
  const before = await fixture.database.query('select * from webhook_endpoints w, webhook_deliveries d where w.webhook_id = $1', [
    webhookId,
  ]);
  expectProblem(await fixture.call('GET', path, { tenant: other }), 404, 'not_found');
  expectProblem(await fixture.act(other, 'PUT', path, { description: 'mine' }), 404, 'not_found');
  expectProblem(await fixture.act(other, 'DELETE', path), 404, 'not_found');
  expectProblem(await fixture.act(other, 'POST', `${path}/rotate-secret`), 404, 'not_found');
  expectProblem(await fixture.call('POST', `${path}/test`, { tenant: other }), 404, 'not_found');
  expectProblem(await fixture.call('GET', `${path}/deliveries`, { tenant: other }), 404, 'not_found');
  const delivery = `${path}/deliveries/${String(body['delivery_id'])}/resend`;
  expectProblem(await fixture.call('POST', delivery, { tenant: other }), 404, 'not_found');
  const since = new Date(0).toISOString();
  expectProblem(await fixture.call('POST', `${path}/resend-failed`, { tenant: other, body: { since } }), 404, 'not_found');
  expect((await fixture.call('GET', '/webhooks', { tenant: other })).body).toMatchObject({ total: 0 });
  expect(
    await fixture.database.query('select * from webhook_endpoints w, webhook_deliveries d where w.webhook_id = $1', [webhookId]),
  ).toEqual(before);
  // nor by an endpoint of its own
  const own = await fixture.endpoint(other);
  const crossed = `/webhooks/${own.webhookId}/deliveries/${String(body['delivery_id'])}/resend`;
  expectProblem(await fixture.call('POST', crossed, { tenant: other }), 404, 'not_found');
});

test('malformed ids are not found', async () => {
  for (const id of ['x', '00000000-0000-0000-0000-000000000000', randomUUID()]) {
    expectProblem(await fixture.call('GET', `/webhooks/${id}`, { tenant }), 404, 'not_found');
    expectProblem(await fixture.act(tenant, 'PUT', `/webhooks/${id}`, { description: 'x' }), 404, 'not_found');
  }
  const { webhookId } = await fixture.endpoint(tenant);
  expectProblem(await fixture.call('POST', `/webhooks/${webhookId}/deliveries/x/resend`, { tenant }), 404, 'not_found');
});

test('a repeated request gets the same secret, which is stored encrypted only', async () => {
  const key = { 'Idempotency-Key': randomUUID() };
  await buildTotp(fixture.database, boxes.totp, tenant).then(async (secret) => {
    const body = { url: fixture.receiver.url, mfa_code: totpCode(secret) };
    const first = await fixture.call('POST', '/webhooks', { tenant, body, headers: key });
    const again = await fixture.call('POST', '/webhooks', { tenant, body, headers: key });
    expect([first.status, again.status, again.headers.get('idempotency-replayed')]).toEqual([201, 201, 'true']);
    expect(again.text).toBe(first.text);
    expect(again.headers.get('location')).toBe(first.headers.get('location'));

    const stored = await fixture.database.query(
      `select response_body #>> '{}' as body from idempotency_keys where client_id = $1`,
      [tenant.clientId],
    );
    expect(JSON.stringify(stored)).not.toMatch(/whsec_/);
    expect(Buffer.from(String(stored[0].body), 'base64').toString('latin1')).not.toMatch(/whsec_/);

    // a crash between the work and the answer: the code is used up, the work is found again
    await fixture.database.query(
      `update idempotency_keys set response_status = null, response_body = null, leased_until = now() - interval '1 minute' where client_id = $1`,
      [tenant.clientId],
    );
    const resumed = await fixture.call('POST', '/webhooks', { tenant, body, headers: key });
    expect([resumed.status, resumed.body]).toEqual([201, first.body]);
  });
  expect((await fixture.call('GET', '/webhooks', { tenant })).body).toMatchObject({ total: 1 });
});

test('a rotation that is repeated rotates once', async () => {
  const { webhookId, secret } = await fixture.endpoint(tenant);
  await fixture.database.query('delete from user_totp where user_id = $1', [tenant.userId]);
  const body = { mfa_code: totpCode(await buildTotp(fixture.database, boxes.totp, tenant)) };
  const headers = { 'Idempotency-Key': randomUUID() };
  const rotate = () => fixture.call('POST', `/webhooks/${webhookId}/rotate-secret`, { tenant, body, headers });
  const first = await rotate();
  expect(first.status).toBe(200);
  expect(first.body['secret']).not.toBe(secret);
  await fixture.database.query(
    `update idempotency_keys set response_status = null, leased_until = now() - interval '1 minute' where client_id = $1`,
    [tenant.clientId],
  );
  expect((await rotate()).body).toEqual(first.body);
  expect((await audits(tenant.clientId)).map(({ action }) => action)).toEqual(['webhook.created', 'webhook.secret_rotated']);
});

test('a client has at most ten, also with concurrent requests', async () => {
  const users = await Promise.all(
    Array.from({ length: 13 }, async () => {
      const [row] = await fixture.database.query(
        `insert into users (user_id, client_id, name) values (gen_random_uuid(), $1, gen_random_uuid()::text) returning user_id`,
        [tenant.clientId],
      );
      return {
        userId: String(row.user_id),
        secret: await buildTotp(fixture.database, boxes.totp, { userId: String(row.user_id) }),
      };
    }),
  );
  const { database } = fixture;
  const service = new WebhookService({
    webhooks: new WebhookRepository(database),
    mfa: new MfaService(database, boxes.totp),
    box,
    targets: createTargetGuard('local'),
  });
  const outcomes = await Promise.allSettled(
    users.map(({ userId, secret }) =>
      service.create(
        { caller: { clientId: tenant.clientId, userId, keyId: '' }, code: totpCode(secret), operation: 'x', requestId: 'r' },
        { resourceId: randomUUID(), idempotencyKey: null, firstAttemptAt: null, storeAnswer: () => Promise.resolve() },
        { url: fixture.receiver.url },
      ),
    ),
  );
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
  for (const outcome of outcomes)
    if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'business_error' });
});

test('a disabled endpoint is neither tested nor resent to', async () => {
  const { webhookId } = await fixture.endpoint(tenant);
  const { body } = await fixture.call('POST', `/webhooks/${webhookId}/test`, { tenant });
  await fixture.act(tenant, 'PUT', `/webhooks/${webhookId}`, { status: 'disabled' });
  expect(await fixture.deliveries(webhookId)).toMatchObject([{ status: 'failed', attempts: 0 }]);
  expectProblem(await fixture.call('POST', `/webhooks/${webhookId}/test`, { tenant }), 400, 'business_error');
  const resend = `/webhooks/${webhookId}/deliveries/${String(body['delivery_id'])}/resend`;
  expectProblem(await fixture.call('POST', resend, { tenant }), 400, 'business_error');
  await fixture.act(tenant, 'PUT', `/webhooks/${webhookId}`, { status: 'enabled' });
  expect((await fixture.call('POST', resend, { tenant })).body).toMatchObject({ status: 'pending', ended_at: null });
});

test.each(['', 'yesterday', '2026-W03', '2026-13-01T00:00:00Z'])('resend-failed since %p is refused', async (since) => {
  const { webhookId } = await fixture.endpoint(tenant);
  expectProblem(
    await fixture.call('POST', `/webhooks/${webhookId}/resend-failed`, { tenant, body: { since } }),
    400,
    'invalid_parameter',
    'since',
  );
});

const webhookBox = (keys: string) => new SecretBox(keys, 'WEBHOOK_SECRETS_KEY');

test('after reseal the old key is not needed for either secret of a rotation', async () => {
  const endpoint = await fixture.endpoint(tenant);
  const rotated = await fixture.act(tenant, 'POST', `/webhooks/${endpoint.webhookId}/rotate-secret`);
  const next = randomBytes(32).toString('hex');
  await resealSecrets(fixture.database, { ...boxes, webhooks: webhookBox(`${next},${webhookKey}`) });
  const row = await fixture.database.manager.findOneByOrFail(WebhookEntity, { webhookId: endpoint.webhookId });
  const opened = [row.secret, row.previousSecret].map((secret) => openSecret(webhookBox(next), { ...row, secret }));
  expect(opened).toEqual([rotated.body['secret'], endpoint.secret]);
  expect(() => openSecret(box, row)).toThrow('WEBHOOK_SECRETS_KEY');
  // restored for the other tests
  await resealSecrets(fixture.database, { ...boxes, webhooks: webhookBox(`${webhookKey},${next}`) });
  expect(openSecret(box, await fixture.database.manager.findOneByOrFail(WebhookEntity, { webhookId: row.webhookId }))).toBe(
    opened[0],
  );
});
