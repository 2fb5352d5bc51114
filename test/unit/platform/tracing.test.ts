import { ApplicationFailure } from '@temporalio/common';
import { GatewayError } from '../../../src/platform/errors';
import { exportable, refused, type SpanAttributes, toErrorType } from '../../../src/platform/tracing/attributes';
import { belowRun, runSpanId } from '../../../src/platform/tracing/ids';
import { startTracing } from '../../../src/platform/tracing/start';
import { below, getTracer, readTraceParent, traced } from '../../../src/platform/tracing/tracing';
import { createLogger } from '../../../src/platform/logging';

const silent = createLogger('test', 'fatal');
const parent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

describe('what a span may say', () => {
  const subject = '0190b5a4-0000-7000-8000-00000000abc1';

  test.each<SpanAttributes>([
    { 'http.request.method': 'POST' },
    { 'http.route': '/api/v1/transactions/:tx_id' },
    { 'http.response.status_code': 202 },
    { 'gateway.subject_id': subject },
    { 'gateway.chain': 'bitcoin-testnet4' },
    { 'gateway.activity': 'signTransaction', 'gateway.attempt': 3, 'gateway.task_queue': 'mpc-node-1' },
    { 'mpc.session': 'sign', 'mpc.role': 'participant', 'mpc.node': 2 },
    { 'rpc.method': 'eth_getBlockByNumber', 'server.address': 'rpc.example.com' },
    { 'rpc.method': 'wallet/broadcasthex', 'server.address': '[::1]' },
  ])('%j', (attributes) => {
    expect(exportable(attributes)).toEqual(attributes);
  });

  test.each<[keyof SpanAttributes, string | number]>([
    ['http.request.method', 'GET /secret'],
    ['http.route', '/transactions/0190b5a4?token=secret'],
    ['http.response.status_code', 20_200],
    ['gateway.subject_id', 'a client of ours'],
    ['gateway.subject_id', `${subject} and more`],
    ['gateway.chain', 'https://rpc.example.com/key'],
    ['gateway.outcome', 'Not accepted: 12.5 USDC to 0x1234'],
    ['gateway.attempt', '1; select 1'],
    ['rpc.method', 'eth_call["0x1234"]'],
    ['server.address', 'https://user:key@rpc.example.com/v2/key'],
    ['server.address', 'rpc.example.com/v2/key'],
    ['server.address', 'user@rpc.example.com'],
    ['error.type', 'password authentication failed'],
    ['error.type', 'sk1234567890'],
  ])('not %s: %s', (name, value) => {
    expect(exportable({ [name]: value })).toEqual({ [name]: refused });
  });

  test('names that are not in the list are left out, whatever they say', () => {
    const attributes = { 'db.statement': 'select 1', authorization: 'Bearer x', toString: 'x', 'gateway.chain': 'base' };
    expect(exportable(attributes as SpanAttributes)).toEqual({ 'gateway.chain': 'base' });
  });

  test.each([
    [new GatewayError('address_blacklisted', 'the address 0x1234'), 'address_blacklisted'],
    [ApplicationFailure.create({ type: 'chain_unavailable', message: 'https://key@rpc' }), 'chain_unavailable'],
    [new TypeError('sk_secret'), 'TypeError'],
    [Object.assign(new Error('x'), { name: 'sk_1234567890abcdef' }), 'other'],
    [Object.assign(new Error('x'), { type: 'a secret text', code: '28P01' }), 'Error'],
    ['a text that was thrown', 'other'],
  ])('of an error its code or its class: %#', (error, type) => {
    expect(toErrorType(error)).toBe(type);
  });
});

describe('traceparent', () => {
  test('is taken in the form of W3C Trace Context alone', () => {
    expect(readTraceParent(parent)).toBe(parent);
    for (const other of [
      undefined,
      [parent],
      '',
      `${parent}-00`,
      ` ${parent}`,
      parent.toUpperCase(),
      parent.replace('00-', 'ff-'),
      parent.replace(/4bf\w+/, '0'.repeat(32)),
      parent.replace(/00f0\w+/, '0'.repeat(16)),
    ])
      expect(readTraceParent(other)).toBeUndefined();
  });

  test('of a run is in the trace of the span that has started it, with an id that every process knows', () => {
    const run = belowRun(parent, 'run-1');
    expect(readTraceParent(run)).toBe(run);
    expect(run).toBe(`00-4bf92f3577b34da6a3ce929d0e0e4736-${runSpanId('run-1')}-01`);
    expect(runSpanId('run-2')).not.toBe(runSpanId('run-1'));
  });
});

describe('without an endpoint', () => {
  test('nothing is traced, and what would be traced is done', async () => {
    const stop = startTracing('test', silent, { OTEL_TRACES_SAMPLER: 'always_on', OTEL_SERVICE_NAME: 'test' });
    expect(getTracer()).toBeUndefined();
    const spans: unknown[] = [];
    expect(await below(parent, () => traced('x', {}, (span) => Promise.resolve(spans.push(span))))).toBe(1);
    expect(spans).toEqual([undefined]);
    await stop();
  });

  test.each([
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'grpc://127.0.0.1:4317'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'https://user:planted@collector.example.com'],
    ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'collector.example.com/planted'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'planted'],
    ['OTEL_TRACES_SAMPLER', 'jaeger_remote'],
    ['OTEL_TRACES_SAMPLER_ARG', '2'],
    ['OTEL_SERVICE_NAME', 'two words'],
  ])('a wrong %s ends the start with its name, and not with a secret: %s', (name, value) => {
    const start = () => startTracing('test', silent, { [name]: value });
    expect(start).toThrow(name);
    expect(start).not.toThrow('planted');
  });
});
