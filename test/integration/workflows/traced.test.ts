import { Client } from '@temporalio/client';
import { webhookTaskQueue } from '../../../src/messages/task-queues';
import { traceHeader } from '../../../src/messages/tracing';
import { webhookWorkflowId, workflowTypes } from '../../../src/messages/workflow-ids';
import { newId } from '../../../src/platform/ids';
import { createLogger } from '../../../src/platform/logging';
import { traceStarts } from '../../../src/platform/temporal-client';
import { runSpanId } from '../../../src/platform/tracing/ids';
import { startTracing } from '../../../src/platform/tracing/start';
import { getTracer } from '../../../src/platform/tracing/tracing';
import { recordRun } from '../../replay/record-run';
import { waitFor } from '../../stack/client';
import { SpanReceiver } from '../../stack/span-receiver';
import { ServedActivities } from './served';

/** A trace goes through workflows by headers alone; whether one is exported changes nothing that a workflow does. */

jest.setTimeout(120_000);

const served = new ServedActivities({ suggestContinueAfter: 60 });
let receiver: SpanReceiver;
let stop: () => Promise<void>;
const beginTracing = () => {
  stop = startTracing('test', createLogger('test', 'fatal'), { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url });
};
beforeEach(async () => {
  receiver = await SpanReceiver.start();
  beginTracing();
});
afterEach(async () => {
  await stop();
  await receiver.close();
});

/** Serves a stream with so many deliveries, and starts its workflow within a request; returns how the workflow began. */
async function start({
  deliveries,
  onDelivery = () => undefined,
}: {
  deliveries: number;
  onDelivery?: (call: number) => unknown;
}) {
  let calls = 0;
  const deliverNext = async () => {
    await onDelivery((calls += 1));
    return { outcome: 'delivered', waitMs: calls < deliveries ? 0 : null };
  };
  await served.serve(webhookTaskQueue, { deliverNext }, { runsWorkflows: true });
  const { connection, namespace } = served.temporal;
  const client = new Client({ connection, namespace: namespace ?? 'default', interceptors: { workflow: [traceStarts] } });
  const stream = { webhookId: newId(), subjectId: newId() };
  const workflowId = webhookWorkflowId(stream);
  const options = { workflowId, taskQueue: webhookTaskQueue, args: [stream] as never };
  const begin = () => client.workflow.start(workflowTypes.deliverWebhooks, options);
  const request = getTracer()?.beginRequest('request', {}, undefined);
  const { firstExecutionRunId: runId } = await (request ? request.run(begin) : begin());
  request?.end();
  return { ...stream, client, workflowId, runId, end: () => client.workflow.getHandle(workflowId).result() };
}

test('request, start, each run and its activities are one trace, and what continues a run is in it too', async () => {
  const { subjectId, client, workflowId, runId, end } = await start({ deliveries: 12 });
  await end();
  const { runId: lastRunId } = await client.workflow.getHandle(workflowId).describe();
  expect(lastRunId).not.toBe(runId);
  await stop();
  const request = await receiver.find('request');
  const started = await receiver.find('start deliverWebhooks');
  expect(new Set(receiver.spans.map(({ traceId }) => traceId))).toEqual(new Set([request.traceId]));
  expect(started.parentSpanId).toBe(request.spanId);
  const runs = receiver.spans.filter(({ name }) => name === 'workflow deliverWebhooks');
  expect(runs.map(({ parentSpanId, spanId, attributes }) => [parentSpanId, spanId, attributes['gateway.outcome']])).toEqual([
    [started.spanId, runSpanId(runId), 'continued'],
    [started.spanId, runSpanId(lastRunId), 'completed'],
  ]);
  const activities = receiver.spans.filter(({ name }) => name === 'activity deliverNext');
  expect(activities).toHaveLength(12);
  expect(new Set(activities.map(({ parentSpanId }) => parentSpanId))).toEqual(new Set(runs.map(({ spanId }) => spanId)));
  expect(activities[0]?.attributes).toEqual({
    ...{ 'gateway.activity': 'deliverNext', 'gateway.attempt': 1 },
    ...{ 'gateway.task_queue': webhookTaskQueue, 'gateway.subject_id': subjectId },
  });
  await recordRun(client, workflowId, 'deliver-webhooks-traced-continued', { runId });
  await recordRun(client, workflowId, 'deliver-webhooks-traced-after-continue');
});

test('a try that fails has a span of its own, with the class of the error and nothing of its text', async () => {
  const { end } = await start({
    deliveries: 1,
    onDelivery: (call) => {
      if (call === 1) throw new RangeError('planted');
    },
  });
  await end();
  await stop();
  const tries = receiver.spans.filter(({ name }) => name === 'activity deliverNext');
  expect(tries.map(({ status, attributes }) => [status, attributes['gateway.attempt'], attributes['error.type']])).toEqual([
    [2, 1, 'RangeError'],
    [0, 2, undefined],
  ]);
  expect(receiver.text).not.toContain('planted');
});

test('a run whose task fails by a fault, and is tried again, has no span for that', async () => {
  await served.serve(webhookTaskQueue, {}, { runsWorkflows: true });
  const { connection, namespace } = served.temporal;
  const client = new Client({ connection, namespace: namespace ?? 'default', interceptors: { workflow: [traceStarts] } });
  // without its input: a TypeError
  const options = { workflowId: newId(), taskQueue: webhookTaskQueue, args: [] as never };
  const request = getTracer()?.beginRequest('request', {}, undefined);
  const handle = await request?.run(() => client.workflow.start(workflowTypes.deliverWebhooks, options));
  request?.end();
  const attempt = async () => (await handle?.describe())?.raw.pendingWorkflowTask?.attempt ?? 0;
  await waitFor(async () => (await attempt()) >= 2);
  await handle?.terminate();
  await stop();
  expect(receiver.spans.map(({ name }) => name).sort()).toEqual(['request', 'start deliverWebhooks']);
});

test('a workflow that was started without a trace has none to its end, also where spans are exported meanwhile', async () => {
  await stop();
  const { end, client, workflowId } = await start({ deliveries: 2, onDelivery: (call) => call === 1 && beginTracing() });
  await end();
  const { events = [] } = await client.workflow.getHandle(workflowId).fetchHistory();
  const headers = events?.map((event) => event.workflowExecutionStartedEventAttributes?.header?.fields ?? {}) ?? [];
  expect(headers.some((fields) => traceHeader in fields)).toBe(false);
  await stop();
  expect(receiver.spans).toEqual([]);
});

test('a workflow that was started with a trace ends where none is exported any more', async () => {
  const other = await start({ deliveries: 2, onDelivery: (call) => call === 1 && stop() });
  await other.end();
  expect(receiver.spans.map(({ name }) => name).sort()).toEqual(['request', 'start deliverWebhooks']);
});
