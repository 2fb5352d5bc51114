import { randomUUID } from 'node:crypto';
import { createServer as createTlsServer } from 'node:https';
import { createServer, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { deliverNext } from '../../../src/webhooks/attempt';
import { EndpointConcurrency } from '../../../src/webhooks/endpoint-concurrency';
import { send } from '../../../src/webhooks/http-client';
import { TargetGuard, createTargetGuard } from '../../../src/webhooks/ssrf-guard';
import { buildTransferRequest } from '../../factories';
import { buildFunded, ethereum, expectProblem, type Tenant } from '../http/fixture';
import { metricValue } from '../../metrics';
import { createGroup } from '../mpc/certificates';
import { createWebhookFixture, type Endpoint, type WebhookFixture } from './fixture';
import { startReceiver, status, verify } from './receiver';

let fixture: WebhookFixture;
let tenant: Tenant;
let endpoint: Endpoint;
beforeAll(async () => {
  fixture = await createWebhookFixture();
});
afterAll(() => fixture.close());
beforeEach(async () => {
  tenant = await fixture.newTenant();
  endpoint = await fixture.endpoint(tenant);
  fixture.receiver.received.length = 0;
  fixture.receiver.replies.length = 0;
});

const path = (rest = '') => `/webhooks/${endpoint.webhookId}${rest}`;
const testEvent = () => fixture.call('POST', path('/test'), { tenant });
const log = async (query = '') => (await fixture.call('GET', path(`/deliveries${query}`), { tenant })).body.data;
const shown = async () => (await fixture.call('GET', path(), { tenant })).body;
const ids = () => fixture.receiver.received.map(({ id }) => id);

async function cancelledTransfer(): Promise<string> {
  // the account is funded by deposits, which have events too
  endpoint = await fixture.endpoint(tenant, { events: ['transaction.created', 'transaction.updated'] });
  const { account } = await buildFunded(fixture, tenant);
  return fixture.cancelledTransfer(account);
}

test('a test event arrives, signed according to Standard Webhooks, and is listed', async () => {
  const { body } = await testEvent();
  expect(body).toMatchObject({ event_type: 'webhook.test', status: 'pending', attempts: 0, attempt_log: [] });
  await fixture.deliver(endpoint.webhookId);
  const [one] = fixture.receiver.received;
  expect(verify(endpoint.secret, one as never)).toEqual({
    type: 'webhook.test',
    timestamp: expect.stringMatching(/Z$/),
    data: { webhook_id: endpoint.webhookId, message: expect.any(String) },
  });
  expect(one?.headers).toMatchObject({ 'webhook-id': body['event_id'], 'content-type': 'application/json', connection: 'close' });
  expect(() => verify('whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=', one as never)).toThrow();
  expect(await log()).toEqual([
    {
      ...(body as object),
      status: 'delivered',
      attempts: 1,
      next_attempt_at: null,
      ended_at: expect.stringMatching(/Z$/),
      attempt_log: [
        {
          attempt: 1,
          at: expect.stringMatching(/Z$/),
          duration_ms: expect.any(Number),
          status_code: 200,
          error: null,
          excerpt: 'thanks',
        },
      ],
    },
  ]);
});

test('that a transfer waits for an operator arrives, signed, at who wants to know that alone, and once', async () => {
  endpoint = await fixture.endpoint(tenant, { events: ['transaction.needs_attention'] });
  const { account } = await buildFunded(fixture, tenant);
  const request = buildTransferRequest(account, ethereum, { clientId: tenant.clientId });
  const { ledger } = fixture.workflows;
  const { txId } = await ledger.lockTransfer(request);
  const parking = { txId, code: 'intent_mismatch', reason: 'node 1 refuses the bytes' } as const;
  for (let i = 0; i < 2; i += 1) await ledger.parkTransfer(parking);
  await fixture.deliver(endpoint.webhookId);
  expect(fixture.receiver.received).toHaveLength(1);
  const [one] = fixture.receiver.received;
  const body = verify(endpoint.secret, one as never) as { type: string; data: Record<string, unknown> };
  expect(body).toMatchObject({
    type: 'transaction.needs_attention',
    data: { tx_id: txId, status: 'NEEDS_ATTENTION', failure: { code: 'intent_mismatch' } },
  });
  expect(one?.body).not.toContain('node 1');
});

test('a failed attempt is repeated when it is due, with the same id and body', async () => {
  fixture.receiver.replies.push(status(500, {}, 'boom'), status(429), status(404));
  const counted = (outcome: string) => metricValue('gateway_webhook_attempts_total', { outcome });
  const [failed, delivered] = [await counted('failed'), await counted('delivered')];
  await testEvent();
  await fixture.deliver(endpoint.webhookId);
  await fixture.deliver(endpoint.webhookId);
  expect(ids()).toHaveLength(1);
  expect(await shown()).toMatchObject({ failing_since: expect.any(String) });
  for (const seconds of [7, 400, 2400]) {
    await fixture.pass(seconds);
    await fixture.deliver(endpoint.webhookId);
  }
  expect(ids()).toHaveLength(4);
  expect(new Set(ids()).size).toBe(1);
  expect(new Set(fixture.receiver.received.map(({ body }) => body)).size).toBe(1);
  for (const one of fixture.receiver.received) verify(endpoint.secret, one);
  const [delivery] = await log();
  expect(delivery).toMatchObject({ status: 'delivered', attempts: 4 });
  expect((delivery?.['attempt_log'] as unknown as { status_code: number }[]).map(({ status_code }) => status_code)).toEqual([
    500, 429, 404, 200,
  ]);
  expect(await shown()).toMatchObject({ failing_since: null });
  expect([(await counted('failed')) - failed, (await counted('delivered')) - delivered]).toEqual([3, 1]);
});

test('the events of a transaction arrive in its order, also past a failure', async () => {
  fixture.receiver.replies.push(status(503));
  const txId = await cancelledTransfer();
  await fixture.deliver(endpoint.webhookId);
  // the first one failed: what follows it waits
  expect(fixture.receiver.received.map(({ payload }) => payload.data['sequence'])).toEqual([0]);
  await fixture.pass(7);
  await fixture.deliver(endpoint.webhookId);
  expect(
    fixture.receiver.received
      .filter(({ payload }) => payload.data['tx_id'] === txId)
      .map(({ payload }) => payload.data['sequence']),
  ).toEqual([0, 0, 1]);
});

test('an event that the receiver cannot take holds back later ones for three retries, not for ever', async () => {
  fixture.receiver.replies.push(...Array.from({ length: 4 }, () => status(500)));
  await cancelledTransfer();
  const retrySchedule = [5, 300, 1800, 7200, 7200];
  for (const seconds of [0, 7, 400, 2400]) {
    expect(fixture.receiver.received.every(({ payload }) => payload.data['sequence'] === 0)).toBe(true);
    await fixture.pass(seconds);
    await fixture.deliver(endpoint.webhookId, { retrySchedule });
  }
  expect(fixture.receiver.received.map(({ payload }) => payload.data['sequence'])).toEqual([0, 0, 0, 0, 1]);
});

test('Retry-After is waited for', async () => {
  fixture.receiver.replies.push(status(503, { 'Retry-After': '600' }));
  await testEvent();
  await fixture.deliver(endpoint.webhookId);
  await fixture.pass(590);
  await fixture.deliver(endpoint.webhookId);
  expect(ids()).toHaveLength(1);
  await fixture.pass(10);
  await fixture.deliver(endpoint.webhookId);
  expect(ids()).toHaveLength(2);
});

test('410 disables the endpoint at once; its other endpoints and the audit log get an event', async () => {
  const witness = await startReceiver();
  try {
    const other = await fixture.endpoint(tenant, { url: witness.url, events: ['webhook.disabled'] });
    fixture.receiver.replies.push(status(410));
    const [first] = [await testEvent(), await testEvent()];
    await fixture.deliver(endpoint.webhookId);
    expect(ids()).toEqual([first.body['event_id']]);
    expect(await shown()).toMatchObject({ status: 'disabled', disabled_reason: 'gone' });
    expect((await log()).map(({ status: state }) => state)).toEqual(['failed', 'failed']);
    await fixture.deliver(other.webhookId);
    expect(witness.received.map((one) => verify(other.secret, one))).toEqual([
      {
        type: 'webhook.disabled',
        timestamp: expect.any(String),
        data: {
          webhook_id: endpoint.webhookId,
          url: fixture.receiver.url,
          reason: 'gone',
          disabled_at: expect.stringMatching(/Z$/),
        },
      },
    ]);
    const [row] = await fixture.database.query(
      `select actor_type, detail from audit_events where client_id = $1 and action = 'webhook.disabled'`,
      [tenant.clientId],
    );
    expect(row).toEqual({ actor_type: 'system', detail: { reason: 'gone' } });
  } finally {
    await witness.close();
  }
});

test('only failures for too long: deliveries fail, the endpoint is disabled, and they can be resent', async () => {
  fixture.receiver.replies.push(...Array.from({ length: 3 }, () => status(500)));
  await testEvent();
  for (const seconds of [0, 7, 7, 0]) {
    await fixture.pass(seconds);
    await fixture.deliver(endpoint.webhookId, { retrySchedule: [5, 5] });
  }
  expect(ids()).toHaveLength(3);
  expect(await shown()).toMatchObject({ status: 'disabled', disabled_reason: 'failing' });
  expect(await log('?status=failed')).toMatchObject([{ attempts: 3 }]);

  const since = new Date(Date.now() - 60_000).toISOString();
  expect((await fixture.call('POST', path('/resend-failed'), { tenant, body: { since } })).status).toBe(400);
  await fixture.act(tenant, 'PUT', path(), { status: 'enabled' });
  expect(await shown()).toMatchObject({ failing_since: null });
  const none = await fixture.call('POST', path('/resend-failed'), {
    tenant,
    body: { since: new Date(Date.now() + 60_000).toISOString() },
  });
  expect(none.body).toEqual({ resent: 0, has_more: false });
  expect((await fixture.call('POST', path('/resend-failed'), { tenant, body: { since } })).body).toEqual({
    resent: 1,
    has_more: false,
  });
  await fixture.deliver(endpoint.webhookId);
  expect(new Set(ids()).size).toBe(1);
  expect(await log('?status=delivered')).toMatchObject([{ attempts: 4 }]);
});

test('an endpoint that answers now and then is not disabled', async () => {
  fixture.receiver.replies.push(status(500), status(200), status(500));
  await testEvent();
  await fixture.deliver(endpoint.webhookId, { retrySchedule: [5, 5] });
  await fixture.pass(100);
  await fixture.deliver(endpoint.webhookId, { retrySchedule: [5, 5] });
  await testEvent();
  await fixture.pass(100);
  await fixture.deliver(endpoint.webhookId, { retrySchedule: [5, 5] });
  expect(await shown()).toMatchObject({ status: 'enabled', failing_since: expect.any(String) });
});

test('a delivery that arrived can be sent again, by the same id; one that waits for its retry is tried now', async () => {
  const { body } = await testEvent();
  const resend = path(`/deliveries/${String(body['delivery_id'])}/resend`);
  expect((await fixture.call('POST', resend, { tenant })).body).toMatchObject({ status: 'pending' });
  await fixture.deliver(endpoint.webhookId);
  expect((await fixture.call('POST', resend, { tenant })).body).toMatchObject({ status: 'pending', attempts: 1 });
  await fixture.deliver(endpoint.webhookId);
  expect(ids()).toEqual([body['event_id'], body['event_id']]);
  fixture.receiver.replies.push(status(500));
  await fixture.call('POST', resend, { tenant });
  await fixture.deliver(endpoint.webhookId);
  await fixture.call('POST', resend, { tenant });
  await fixture.deliver(endpoint.webhookId);
  expect(ids()).toHaveLength(4);
});

test('a 410 of the url before the last does not disable', async () => {
  fixture.receiver.replies.push((response) => {
    void fixture
      .act(tenant, 'PUT', path(), { url: `${fixture.receiver.url}/moved` })
      .then(() => status(410)(response, undefined as never));
  });
  await testEvent();
  await fixture.deliver(endpoint.webhookId);
  expect(await shown()).toMatchObject({ status: 'enabled' });
  await fixture.pass(7);
  await fixture.deliver(endpoint.webhookId);
  expect(fixture.receiver.received.map((one) => one.path)).toEqual(['/hook', '/hook/moved']);
});

test('while a secret is being replaced both verify; after the overlap the new one only', async () => {
  const rotated = await fixture.act(tenant, 'POST', path('/rotate-secret'), { overlap_hours: 1 });
  const fresh = String(rotated.body['secret']);
  expect(rotated.body).toMatchObject({ previous_secret_valid_until: expect.stringMatching(/Z$/) });
  await testEvent();
  await fixture.deliver(endpoint.webhookId);
  const [during] = fixture.receiver.received;
  expect(String(during?.headers['webhook-signature']).split(' ')).toHaveLength(2);
  for (const secret of [endpoint.secret, fresh]) verify(secret, during as never);

  await fixture.database.query(
    `update webhook_endpoints set previous_secret_until = now() - interval '1 second' where webhook_id = $1`,
    [endpoint.webhookId],
  );
  expect(await shown()).toMatchObject({ previous_secret_valid_until: null });
  await testEvent();
  await fixture.deliver(endpoint.webhookId);
  const [, after] = fixture.receiver.received;
  verify(fresh, after as never);
  expect(() => verify(endpoint.secret, after as never)).toThrow();

  const last = await fixture.act(tenant, 'POST', path('/rotate-secret'), { overlap_hours: 0 });
  await testEvent();
  await fixture.deliver(endpoint.webhookId);
  verify(String(last.body['secret']), fixture.receiver.received[2] as never);
  expect(() => verify(fresh, fixture.receiver.received[2] as never)).toThrow();
});

test('200 test events may wait for an endpoint, repeated requests do not count', async () => {
  const key = { 'Idempotency-Key': randomUUID() };
  const first = await fixture.call('POST', path('/test'), { tenant, headers: key });
  for (let count = 1; count < 200; count += 1) expect((await testEvent()).status).toBe(200);
  expectProblem(await testEvent(), 400, 'business_error');
  // a crash before the answer: the event is stored
  await fixture.database.query(
    `update idempotency_keys set response_status = null, leased_until = now() - interval '1 minute' where client_id = $1`,
    [tenant.clientId],
  );
  expect((await fixture.call('POST', path('/test'), { tenant, headers: key })).body).toEqual(first.body);
  await fixture.deliver(endpoint.webhookId);
  expect((await testEvent()).status).toBe(200);
  expect(ids()).toHaveLength(200);
});

describe('an endpoint that is busy', () => {
  const stream = (subjectId: string) => ({ webhookId: endpoint.webhookId, subjectId, busyTimes: 0 });
  const deps = (concurrency: EndpointConcurrency) => fixture.attempts({ concurrency, retrySchedule: [5] });
  const subjects = async () => (await fixture.deliveries(endpoint.webhookId)).map(({ subject_id }) => subject_id);

  test('its streams wait longer the more deliveries are pending; the log shows until when', async () => {
    for (let count = 0; count < 10; count += 1) await testEvent();
    const [first = ''] = await subjects();
    const concurrency = new EndpointConcurrency({ permits: 1, maxWaiting: 0, maxWaitMs: 10 });
    jest.spyOn(concurrency, 'run').mockResolvedValueOnce(undefined);
    const turn = jest.spyOn(concurrency, 'estimateWaitMs').mockReturnValueOnce(40_000);
    const { outcome, waitMs } = await deliverNext(deps(concurrency), stream(first));
    expect([outcome, ids()]).toEqual(['busy', []]);
    expect(turn).toHaveBeenCalledWith(endpoint.webhookId, 10, { exclusive: false });
    expect(waitMs).toBeGreaterThanOrEqual(40_000);
    const delivery = (await log()).find((one: Record<string, unknown>) => one['subject_id'] === first);
    expect(Date.parse(String(delivery?.['next_attempt_at'])) - Date.now()).toBeGreaterThan(30_000);
    expect(await deliverNext(deps(concurrency), stream(first))).toMatchObject({ outcome: 'idle' });
  });

  test('once it has failed for a minute it gets one request at a time', async () => {
    fixture.receiver.replies.push(status(500));
    await testEvent();
    await fixture.deliver(endpoint.webhookId);
    await testEvent();
    const [, second = ''] = await subjects();
    const concurrency = new EndpointConcurrency({ permits: 8, maxWaiting: 8, maxWaitMs: 10 });
    let release!: () => void;
    const held = concurrency.run(endpoint.webhookId, () => new Promise<void>((resolve) => (release = resolve)));
    await fixture.database.query(
      `update webhook_endpoints set failing_since = now() - interval '61 seconds' where webhook_id = $1`,
      [endpoint.webhookId],
    );
    expect(await deliverNext(deps(concurrency), stream(second))).toMatchObject({ outcome: 'busy' });
    await fixture.database.query(
      `update webhook_deliveries set next_attempt_at = now() where webhook_id = $1 and subject_id = $2`,
      [endpoint.webhookId, second],
    );
    await fixture.database.query(`update webhook_endpoints set failing_since = now() where webhook_id = $1`, [
      endpoint.webhookId,
    ]);
    expect(await deliverNext(deps(concurrency), stream(second))).toMatchObject({ outcome: 'delivered' });
    release();
    await held;
  });
});

test('the list of deliveries pages, filters and shows the last 20 attempts', async () => {
  for (let count = 0; count < 3; count += 1) await testEvent();
  const page = await fixture.call('GET', path('/deliveries?page=2&page_size=2'), { tenant });
  expect(page.body).toMatchObject({ total: 3, has_more: false, data: [{ status: 'pending' }] });
  const [{ delivery_id: id }] = (await log()) as unknown as [{ delivery_id: string }];
  await fixture.database.query(
    `insert into webhook_attempts (delivery_id, attempt, at, duration_ms, status_code) select $1, n, now(), 1, 500 from generate_series(1, 30) n`,
    [id],
  );
  const attempts = (await log())[0]?.['attempt_log'] as unknown as { attempt: number }[];
  expect(attempts.map(({ attempt }) => attempt)).toEqual(Array.from({ length: 20 }, (_, n) => n + 11));
});

describe('receivers that misbehave', () => {
  const attempt = async () => ((await log())[0]?.['attempt_log'] as unknown as Record<string, unknown>[])[0];

  test('a redirect is a failure and is not followed', async () => {
    const target = await startReceiver();
    try {
      fixture.receiver.replies.push(status(302, { Location: target.url }), status(307, { Location: target.url }));
      await testEvent();
      await fixture.deliver(endpoint.webhookId);
      await fixture.pass(7);
      await fixture.deliver(endpoint.webhookId);
      expect(target.received).toEqual([]);
      expect(await log()).toMatchObject([
        { status: 'pending', attempts: 2, attempt_log: [{ status_code: 302 }, { status_code: 307 }] },
      ]);
    } finally {
      await target.close();
    }
  });

  test('one that does not answer in time', async () => {
    fixture.receiver.replies.push(() => undefined);
    await testEvent();
    await fixture.deliver(endpoint.webhookId, { totalMs: 300 });
    expect(await attempt()).toMatchObject({ status_code: null, error: 'timeout' });
    expect(Number((await attempt())?.['duration_ms'])).toBeLessThan(12_000);
  });

  test('one whose answer does not end: its status counts, 1 KB is kept, the connection is closed', async () => {
    let closed!: () => void;
    const gone = new Promise<void>((resolve) => (closed = resolve));
    fixture.receiver.replies.push((response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      const more = setInterval(() => response.write(`\u0000\u001b[31m${'ä'.repeat(1000)}`), 1);
      response.on('close', () => {
        clearInterval(more);
        closed();
      });
    });
    await testEvent();
    await fixture.deliver(endpoint.webhookId);
    await gone;
    const { status_code: code, excerpt } = (await attempt()) as { status_code: number; excerpt: string };
    expect(code).toBe(200);
    expect(Buffer.byteLength(excerpt)).toBeLessThanOrEqual(1024);
    expect(excerpt).toMatch(/^\[31mä{100}/);
  });

  test('one that sends its response byte by byte is disconnected', async () => {
    fixture.receiver.replies.push((response) => {
      response.writeHead(200);
      const drops = setInterval(() => response.write('.'), 20);
      response.on('close', () => clearInterval(drops));
    });
    await testEvent();
    const begun = Date.now();
    await fixture.deliver(endpoint.webhookId, { totalMs: 3_000 });
    // sooner than by the usual limit, as above
    expect(Date.now() - begun).toBeLessThan(12_000);
    expect(await attempt()).toMatchObject({ status_code: 200 });
  });

  test('one that is unreachable, closes the connection, or does not speak HTTP', async () => {
    const options = { targets: createTargetGuard('local') };
    const call = { headers: {}, body: '{}' };
    expect(await send(options, { ...call, url: 'http://127.0.0.1:1/' })).toMatchObject({
      error: 'connection_refused',
      statusCode: null,
    });
    const answers: ((socket: Socket) => void)[] = [
      (socket) => void socket.destroy(),
      (socket) => void socket.end('SMTP ready\r\n'),
      (socket) => void socket.end(),
      (socket) => void socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'),
      (socket) => void socket.end('HTTP/1.1 099 Odd\r\nContent-Length: 0\r\n\r\n'),
    ];
    const server = createServer((socket) => {
      socket.on('error', () => undefined).resume();
      answers.shift()?.(socket);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    expect(await send(options, { ...call, url })).toMatchObject({ error: expect.stringMatching(/connection_(reset|failed)/) });
    expect(await send(options, { ...call, url })).toMatchObject({ error: 'bad_response' });
    expect(await send(options, { ...call, url })).toMatchObject({ error: expect.stringMatching(/connection_(reset|failed)/) });
    for (const what of ['101', '099']) {
      const { error, statusCode } = await send(options, { ...call, url });
      expect([what, error, statusCode]).toEqual([what, 'bad_response', null]);
    }
    expect(answers).toEqual([]);
    await new Promise((resolve) => server.close(resolve));
  });

  test('a body above 64 KB is not sent', async () => {
    const sent = await send(
      { targets: createTargetGuard('local') },
      { url: fixture.receiver.url, headers: {}, body: 'x'.repeat(65 * 1024) },
    );
    expect(sent).toMatchObject({ error: 'body_too_large' });
    expect(fixture.receiver.received).toEqual([]);
  });
});

describe('on connect', () => {
  const call = { headers: {}, body: '{}' };

  test('a name that now resolves to a private address is not called', async () => {
    let lookups = 0;
    const targets = TargetGuard.publicOnly(() => {
      lookups += 1;
      return Promise.resolve([{ address: lookups === 1 ? '93.184.215.14' : '127.0.0.1', family: 4 }]);
    });
    await targets.resolveTarget(targets.parse('https://rebind.example.com:8443/'), AbortSignal.timeout(1_000));
    expect(await send({ targets }, { ...call, url: 'https://rebind.example.com:8443/' })).toMatchObject({
      error: 'blocked_address',
    });
    expect(lookups).toBe(2);
  });

  test('the connection goes to the checked address, whatever the name resolves to; certificates are verified', async () => {
    const { nodes } = await createGroup();
    const { key, cert, ca } = nodes[1];
    let seen: string | undefined;
    const server = createTlsServer({ key, cert }, (request, response) => {
      seen = request.headers.host;
      response.end('ok');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    // names of the reserved domain .test resolve nowhere: only the pinned address leads to the server
    const targets = TargetGuard.local(() => Promise.resolve([{ address: '127.0.0.1', family: 4 }]));
    expect(await send({ targets }, { ...call, url: `https://mpc-node-1.test:${port}/` })).toMatchObject({ error: 'tls' });
    expect(seen).toBeUndefined();
    const named = await send({ targets, ca }, { ...call, url: `https://mpc-node-1:${port}/` });
    expect([named.error ?? named.statusCode, seen]).toEqual([200, `mpc-node-1:${port}`]);
    await new Promise((resolve) => server.close(resolve));
  });
});
