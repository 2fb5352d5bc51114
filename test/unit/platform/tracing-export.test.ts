import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createPost } from '../../../src/chains/post';
import { observeCalls } from '../../../src/chains/observed-calls';
import { GatewayError } from '../../../src/platform/errors';
import { createLogger } from '../../../src/platform/logging';
import { startTracing } from '../../../src/platform/tracing/start';
import { below, getTracer, traced } from '../../../src/platform/tracing/tracing';
import { SpanReceiver } from '../../stack/span-receiver';

/** The exporter with a collector on this machine. */

let receiver: SpanReceiver;
/** Of the log of the test that runs. */
let lines: string[];
let stop: () => Promise<void>;
const start = (env: NodeJS.ProcessEnv = {}) => {
  const own = (lines = []) as string[];
  const log = createLogger('test', 'info', { write: (line: string) => void own.push(line) });
  stop = startTracing('test', log, { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, ...env });
};
const request = (traceParent?: string) => {
  const span = getTracer()?.beginRequest('request', { kind: 'server' }, traceParent);
  if (!span) throw new Error('nothing is traced');
  return span;
};
const parent = (sampled: '00' | '01') => `00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-${sampled}`;
const names = () => receiver.spans.map(({ name }) => name).sort();

beforeEach(async () => {
  stop = () => Promise.resolve();
  receiver = await SpanReceiver.start();
});
afterEach(async () => {
  await stop();
  await receiver.close();
});

test('spans are exported with their parents, also over awaits, and with the code of an error', async () => {
  start();
  const span = request();
  const failing = traced('inner', {}, () => Promise.reject(new GatewayError('chain_unavailable', 'no text of this')));
  await failing.catch(() => undefined);
  await span.run(async () => {
    await new Promise((resolve) => setTimeout(resolve, 5));
    await traced('outer', { attributes: { 'gateway.chain': 'base' } }, () =>
      traced('inner', {}, () => Promise.reject(new GatewayError('chain_unavailable', 'no text of this'))),
    ).catch(() => undefined);
  });
  span.end();
  await stop();
  // the first one had no parent
  expect(names()).toEqual(['inner', 'outer', 'request']);
  const [root, outer, inner] = await Promise.all(['request', 'outer', 'inner'].map((name) => receiver.find(name)));
  expect(root).toMatchObject({ parentSpanId: '', status: 0, process: 'test', service: 'gateway-test' });
  expect(outer).toMatchObject({ traceId: root?.traceId, parentSpanId: root?.spanId, status: 2 });
  expect(outer?.attributes).toEqual({ 'gateway.chain': 'base', 'error.type': 'chain_unavailable' });
  expect(inner).toMatchObject({ traceId: root?.traceId, parentSpanId: outer?.spanId, status: 2 });
  expect(receiver.text).not.toContain('no text of this');
});

test('a span of another process is the parent, and its decision about sampling is followed', async () => {
  start();
  for (const sampled of ['00', '01'] as const)
    await below(parent(sampled), () => traced(`below ${sampled}`, {}, () => Promise.resolve(getTracer()?.traceParent())));
  await stop();
  expect(receiver.spans).toEqual([
    expect.objectContaining({ name: 'below 01', traceId: parent('01').slice(3, 35), parentSpanId: parent('01').slice(36, 52) }),
  ]);
});

test.each([
  ['parentbased_always_off', '1', 0],
  ['parentbased_traceidratio', '0', 0],
  ['traceidratio', '1', 1],
  ['always_off', '1', 0],
])('%s with %s', async (OTEL_TRACES_SAMPLER, OTEL_TRACES_SAMPLER_ARG, exported) => {
  start({ OTEL_TRACES_SAMPLER, OTEL_TRACES_SAMPLER_ARG });
  const span = request();
  // what is below one that is not exported is not exported either
  await span.run(() => traced('inner', {}, () => Promise.resolve()));
  span.end();
  await stop();
  expect(receiver.spans).toHaveLength(2 * exported);
});

test('the collector gets the headers that are configured, and the service has the name that is', async () => {
  start({ OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20cGxhbnRlZA==, x-tenant=custody', OTEL_SERVICE_NAME: 'wallets' });
  request().end();
  await stop();
  expect(receiver.headers[0]).toMatchObject({ authorization: 'Basic cGxhbnRlZA==', 'x-tenant': 'custody' });
  expect(receiver.spans[0]).toMatchObject({ service: 'wallets', process: 'test' });
  expect(lines.join() + receiver.text).not.toMatch(/cGxhbnRlZA/);
});

test('a collector that does not answer costs no time and a bounded queue, and the process stops', async () => {
  start();
  receiver.isSilent = true;
  const begun = Date.now();
  for (let count = 0; count < 20_000; count += 1) request().end();
  // ten times the time that it takes on an idle machine
  expect(Date.now() - begun).toBeLessThan(5_000);
  receiver.isSilent = false;
  const stopping = Date.now();
  await stop();
  expect(Date.now() - stopping).toBeLessThan(12_000);
  // one batch was on its way, and the queue holds 2,048
  expect(receiver.spans.length).toBeLessThanOrEqual(2_048 + 256);
  expect(receiver.spans.length).toBeGreaterThan(0);
}, 20_000);

test('a process whose collector is silent to the end stops after 2 s', async () => {
  start();
  receiver.isSilent = true;
  request().end();
  const stopping = Date.now();
  await stop();
  expect(Date.now() - stopping).toBeGreaterThanOrEqual(1_900);
  // sooner than by the time of an export
  expect(Date.now() - stopping).toBeLessThan(5_000);
}, 20_000);

test('a collector that is down is reported once, without its headers and its URL, and again when it is back', async () => {
  const { port } = new URL(receiver.url);
  await receiver.close();
  start({ OTEL_EXPORTER_OTLP_HEADERS: 'x-key=planted' });
  request().end();
  const reported = (text: string) => lines.filter((line) => line.includes(text)).length;
  const until = async (isSo: () => boolean) => {
    for (let tries = 0; !isSo() && tries < 400; tries += 1) await new Promise((resolve) => setTimeout(resolve, 50));
  };
  await until(() => reported('are not exported') > 0);
  request().end();
  receiver = await SpanReceiver.start(Number(port));
  await until(() => {
    request().end();
    return reported('exported again') > 0;
  });
  expect([reported('are not exported'), reported('exported again')]).toEqual([1, 1]);
  expect(lines.join()).not.toMatch(/planted|v1\/traces/);
}, 40_000);

describe('a call to a chain', () => {
  let node: Server;
  beforeAll(async () => {
    node = createServer((_request, response) => void response.end('{}'));
    await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => node.close());

  test('is exported with method, chain and host; user, path, query and body of its URL hold keys and are not', async () => {
    start();
    const { port } = node.address() as AddressInfo;
    const url = `http://planted-user:planted-password@127.0.0.1:${port}/v2/planted-path?api-key=planted-query`;
    const post = createPost(url, { timeoutMs: 1_000, maxBytes: 1_000, maxConnections: 1 });
    const rpc = observeCalls({ chain: 'base', url, isRefusal: () => false });
    const span = request();
    await span.run(() => rpc('eth_call', () => post(JSON.stringify({ params: ['planted-parameter'] }))));
    // a follower's
    await rpc('eth_getLogs', () => post('{}'));
    span.end();
    await stop();
    expect(names()).toEqual(['request', 'rpc eth_call']);
    const { attributes } = await receiver.find('rpc eth_call');
    expect(attributes).toEqual({ 'rpc.method': 'eth_call', 'gateway.chain': 'base', 'server.address': '127.0.0.1' });
    expect(receiver.text).not.toContain('planted');
  });
});
