import { createLogger } from '../../../src/platform/logging';
import { startTracing } from '../../../src/platform/tracing/start';
import { getTracer } from '../../../src/platform/tracing/tracing';
import { randomAddress } from '../../factories';
import { SpanReceiver } from '../../stack/span-receiver';
import { buildFunded, createFixture, type Fixture, type Funded } from './fixture';

/** The spans of requests, and the trace that is stored for what happens after them. */

let fixture: Fixture;
let trusting: Fixture;
let funded: Funded;
let receiver: SpanReceiver;
let stop: () => Promise<void>;
beforeAll(async () => {
  fixture = await createFixture();
  trusting = await createFixture({ shared: fixture, trustTraceParent: true });
  funded = await buildFunded(fixture, fixture.demo);
});
afterAll(async () => {
  await trusting.close();
  await fixture.close();
});
beforeEach(async () => {
  receiver = await SpanReceiver.start();
  stop = startTracing('api', createLogger('test', 'fatal'), { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url });
});
afterEach(async () => {
  await stop();
  await receiver.close();
});

const given = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const transfer = (to = fixture, headers: Record<string, string> = {}, more: object = {}) => {
  const body = { from_address: funded.account.address, to_address: randomAddress(), chain: 'ethereum', token_symbol: 'USDC' };
  return to.call('POST', '/transfer', { headers, body: { ...body, amount: '0.123457', ...more } });
};
const storedTraces = () => fixture.database.query<{ subject_id: string; trace_parent: string }[]>('select * from request_traces');

test('a request has a span with the template of its route and its status; probes of health have none', async () => {
  await fixture.call('GET', '/transactions/0190b5a4-0000-7000-8000-00000000abc1');
  await fixture.call('GET', '/nowhere', { tenant: null });
  await fetch(`${fixture.origin}/health/live`);
  await stop();
  expect(receiver.spans.map(({ name, parentSpanId, attributes }) => [name, parentSpanId, attributes])).toEqual([
    [
      'GET /api/v1/transactions/:tx_id',
      '',
      {
        ...{ 'http.request.method': 'GET', 'http.route': '/api/v1/transactions/:tx_id' },
        'http.response.status_code': 404,
      },
    ],
    ['GET none', '', { 'http.request.method': 'GET', 'http.response.status_code': 404 }],
  ]);
});

test('what a caller says about its trace is ignored, unless a trusted proxy sets it', async () => {
  await transfer(fixture, { traceparent: given });
  await transfer(trusting, { traceparent: given });
  await transfer(trusting, { traceparent: `${given}-more` });
  await stop();
  const [own, others, wrong] = receiver.spans.filter(({ name }) => name === 'POST /api/v1/transfer');
  expect([own?.parentSpanId, others?.parentSpanId, wrong?.parentSpanId]).toEqual(['', given.slice(36, 52), '']);
  expect(others?.traceId).toBe(given.slice(3, 35));
  expect(own?.traceId).not.toBe(given.slice(3, 35));
});

test('an accepted transfer has its trace stored, and its workflow is started below it, by whichever process', async () => {
  const seen: (string | undefined)[] = [];
  const start = jest.spyOn(fixture.workflows, 'start').mockImplementation(() => {
    seen.push(getTracer()?.traceParent());
    return Promise.resolve('started');
  });
  const direct = String((await transfer()).body['tx_id']);
  await fixture.resources.outbox.settled();
  start.mockImplementationOnce(() => Promise.reject(new Error('away')));
  const late = String((await transfer()).body['tx_id']);
  await fixture.dispatch();
  start.mockRestore();
  await stop();
  const stored = new Map((await storedTraces()).map((row) => [row.subject_id, row.trace_parent]));
  expect(seen).toEqual([direct, late].map((txId) => stored.get(txId)));
  for (const txId of [direct, late]) {
    const span = receiver.spans.find(({ attributes }) => attributes['gateway.subject_id'] === txId);
    expect(stored.get(txId)).toBe(`00-${span?.traceId}-${span?.spanId}-01`);
  }
});

test('without an endpoint no trace is stored', async () => {
  await stop();
  const before = await storedTraces();
  expect((await transfer()).status).toBe(202);
  await fixture.resources.outbox.settled();
  expect(await storedTraces()).toEqual(before);
});

test('stored traces are forgotten after two weeks, also where none is exported any more', async () => {
  const young = String((await transfer()).body['tx_id']);
  const old = String((await transfer()).body['tx_id']);
  await fixture.resources.outbox.settled();
  await stop();
  await fixture.database.query(
    `update request_traces set created_at = now() - case when subject_id = $1 then interval '15 days' else interval '13 days' end`,
    [old],
  );
  await fixture.resources.housekeeping.find(({ name }) => name === 'forget old traces')?.run();
  const kept = (await storedTraces()).map(({ subject_id }) => subject_id);
  expect([kept.includes(young), kept.includes(old)]).toEqual([true, false]);
});

test('no secret, address, amount, body, header or query of a request is exported', async () => {
  const headers = {
    ...{ 'X-API-Key': 'planted-key', 'X-API-Secret': 'planted-secret', 'X-Request-Id': 'planted-id', cookie: 'planted=1' },
    ...{
      traceparent: given,
      tracestate: 'planted=1',
      baggage: 'planted=1',
      'user-agent': 'planted',
      'Idempotency-Key': 'planted-1',
    },
  };
  const { body } = await transfer(trusting, headers, { memo: 'planted memo' });
  await transfer(trusting, headers, { mfa_code: '314159', amount: 'planted' });
  await trusting.call('GET', '/transactions?planted=planted', { headers });
  await trusting.call('GET', '/planted/planted', { headers });
  await trusting.call('POST', '/auth/token', { headers, tenant: null });
  await stop();
  expect(receiver.spans.length).toBeGreaterThanOrEqual(5);
  const secrets = [fixture.demo.token, fixture.demo.apiSecret, fixture.demo.clientId, fixture.demo.userId];
  for (const text of ['planted', '314159', '0.123457', '123457', 'USDC', '127.0.0.1', funded.account.address, ...secrets])
    expect([text, receiver.text.includes(text)]).toEqual([text, false]);
  expect(body).not.toHaveProperty('trace_parent');
});
