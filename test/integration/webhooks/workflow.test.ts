import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import { withMappedErrors } from '../../../activities/errors';
import { webhookTaskQueue } from '../../../src/messages/task-queues';
import { webhookWorkflowId } from '../../../src/messages/workflow-ids';
import { createWebhookActivities } from '../../../activities/webhooks';
import { createLogger } from '../../../src/platform/logging';
import { startDelivery, WebhookDispatcher } from '../../../src/webhooks/dispatcher';
import { EndpointConcurrency } from '../../../src/webhooks/endpoint-concurrency';
import { firstAttempts } from '../../../src/webhooks/first-attempts';
import { sendLimits } from '../../../src/webhooks/http-client';
import { type Answer, buildFunded, type Tenant } from '../http/fixture';
import { recordRun } from '../../replay/record-run';
import { startTemporal, workflowBundle } from '../../temporal';
import { createWebhookFixture, type Endpoint, handingOver, type WebhookFixture } from './fixture';
import { startReceiver, status, verify } from './receiver';

jest.setTimeout(120_000);

const log = createLogger('test', 'fatal');
let temporal: TestWorkflowEnvironment;
let fixture: WebhookFixture;
let tenant: Tenant;
let endpoint: Endpoint;
let stopServing: (() => Promise<void>) | undefined;

beforeAll(async () => {
  [temporal, fixture] = await Promise.all([startTemporal(), createWebhookFixture()]);
});
afterAll(async () => {
  await fixture.close();
  await temporal.teardown();
});

beforeEach(async () => {
  tenant = await fixture.newTenant();
  endpoint = await fixture.endpoint(tenant);
  fixture.receiver.received.length = 0;
  fixture.receiver.replies.length = 0;
});
afterEach(async () => {
  await stopServing?.();
  stopServing = undefined;
});

/** Runs what the worker process runs for webhooks. */
async function serve(retrySchedule = [1, 1, 1], perEndpoint = 8): Promise<void> {
  const concurrency = new EndpointConcurrency({ permits: perEndpoint, maxWaiting: perEndpoint, maxWaitMs: 200 });
  const attempts = fixture.attempts({ concurrency, retrySchedule });
  const worker = await Worker.create({
    connection: temporal.nativeConnection,
    namespace: temporal.namespace,
    workflowBundle,
    taskQueue: webhookTaskQueue,
    activities: withMappedErrors(createWebhookActivities(attempts), log),
    shutdownGraceTime: 100,
  });
  const stop = new AbortController();
  const served = worker.run();
  const dispatching = new WebhookDispatcher(
    fixture.database,
    { firstAttempts: firstAttempts(attempts), startDelivery: startDelivery(temporal.client) },
    log,
  ).run(stop.signal);
  stopServing = async () => {
    stop.abort();
    worker.shutdown();
    await Promise.all([served, dispatching]);
  };
}

async function until(what: string, holds: () => Promise<boolean> | boolean): Promise<void> {
  for (const end = Date.now() + 40_000; Date.now() < end; await new Promise((resolve) => setTimeout(resolve, 50))) {
    if (await holds()) return;
  }
  throw new Error(`not reached: ${what}`);
}

const allDelivered = async ({ webhookId }: Endpoint, count: number) => {
  const deliveries = await fixture.deliveries(webhookId);
  return deliveries.length === count && deliveries.every(({ status: state }) => state === 'delivered');
};
/** With RECORD_HISTORIES=1 the history becomes one of the replay tests. */
const record = ({ body }: Answer, name: string) =>
  recordRun(temporal.client, webhookWorkflowId({ webhookId: endpoint.webhookId, subjectId: String(body['subject_id']) }), name);
/** Whether the workflow waits for the time of a retry. */
const waits = async ({ body }: Answer) => {
  const workflowId = webhookWorkflowId({ webhookId: endpoint.webhookId, subjectId: String(body['subject_id']) });
  const history = await temporal.client.workflow
    .getHandle(workflowId)
    .fetchHistory()
    .catch(() => undefined);
  return history?.events?.some(({ timerStartedEventAttributes: timer }) => timer) ?? false;
};
const testEvent = (of = endpoint) => fixture.call('POST', `/webhooks/${of.webhookId}/test`, { tenant });

async function cancelledTransfers(count: number): Promise<string[]> {
  const { account } = await buildFunded(fixture, tenant);
  return Promise.all(Array.from({ length: count }, () => fixture.cancelledTransfer(account)));
}

test('state changes reach the receiver in the order of each transaction, whatever it answers now and then', async () => {
  await serve();
  for (let count = 0; count < 5; count += 1) fixture.receiver.replies.push(status(200), status(500));
  const txIds = await cancelledTransfers(10);
  // the account was funded by two deposits, each with two events
  await until('all delivered', () => allDelivered(endpoint, 24));
  for (const txId of txIds) {
    const seen = fixture.receiver.received
      .filter(({ payload }) => payload.data['tx_id'] === txId)
      .map(({ payload }) => payload.data['sequence']);
    expect(seen).toEqual([...seen].sort());
    expect(new Set(seen)).toEqual(new Set([0, 1]));
  }
  for (const one of fixture.receiver.received) verify(endpoint.secret, one);
});

test('a delivery that fails gets a workflow, which ends with it, and is started again; its history has neither url nor secret', async () => {
  await serve();
  fixture.receiver.replies.push(status(500), status(500));
  const answer = await testEvent();
  const { body } = answer;
  await until('delivered', () => allDelivered(endpoint, 1));
  const workflowId = webhookWorkflowId({ webhookId: endpoint.webhookId, subjectId: String(body['subject_id']) });
  await temporal.client.workflow.getHandle(workflowId).result();
  await record(answer, 'deliver-webhooks');
  const history = JSON.stringify(await temporal.client.workflow.getHandle(workflowId).fetchHistory());
  expect(history).not.toMatch(/whsec_|127\.0\.0\.1:\d+\/hook/);
  expect(history).not.toContain(Buffer.from(fixture.receiver.url).toString('base64').slice(0, 20));

  await fixture.call('POST', `/webhooks/${endpoint.webhookId}/deliveries/${String(body['delivery_id'])}/resend`, { tenant });
  await until('sent again', () => fixture.receiver.received.length === 4);
  expect(new Set(fixture.receiver.received.map(({ id }) => id)).size).toBe(1);
});

test('a resend ends the wait of a workflow for its retry', async () => {
  await serve([3600]);
  fixture.receiver.replies.push(status(500));
  const answer = await testEvent();
  await until('waits', () => waits(answer));
  await fixture.call('POST', `/webhooks/${endpoint.webhookId}/deliveries/${String(answer.body['delivery_id'])}/resend`, {
    tenant,
  });
  await until('delivered', () => allDelivered(endpoint, 1));
  await record(answer, 'deliver-webhooks-resent');
});

test('the whole schedule fails: the delivery fails and the endpoint is disabled', async () => {
  await serve([1, 1]);
  fixture.receiver.replies.push(...Array.from({ length: 3 }, () => status(500)));
  const answer = await testEvent();
  await until(
    'disabled',
    async () =>
      (await fixture.call('GET', `/webhooks/${endpoint.webhookId}`, { tenant })).body['status'] === ('disabled' as never),
  );
  expect(await fixture.deliveries(endpoint.webhookId)).toMatchObject([{ status: 'failed', attempts: 3 }]);
  await record(answer, 'deliver-webhooks-given-up');
});

test('a receiver that hangs does not hold up another', async () => {
  await serve([60], 2);
  const hanging = await startReceiver();
  try {
    hanging.replies.push(...Array.from({ length: 50 }, () => () => undefined));
    const slow = await fixture.endpoint(tenant, { url: hanging.url });
    const begun = Date.now();
    for (let count = 0; count < 10; count += 1) await testEvent(slow);
    await until('hanging', () => hanging.received.length === 2);
    for (let count = 0; count < 10; count += 1) await testEvent();
    await until('delivered', () => allDelivered(endpoint, 10));
    // before the first that hangs is given up
    expect(Date.now() - begun).toBeLessThan(sendLimits.totalMs);
    expect(hanging.received.length).toBeLessThanOrEqual(4);
  } finally {
    await hanging.close();
  }
});

test('a stream whose workflow was lost is dispatched again; an unused secret and old events are deleted', async () => {
  const dispatcher = new WebhookDispatcher(
    fixture.database,
    handingOver(() => Promise.resolve()),
    log,
  );
  await testEvent();
  // dispatched, but no worker ran the workflow
  expect(await dispatcher.dispatch()).toBe(1);
  expect(await dispatcher.dispatch()).toBe(0);
  await dispatcher.sweep();
  expect(await dispatcher.dispatch()).toBe(0);
  await fixture.pass(11 * 60);
  await fixture.act(tenant, 'POST', `/webhooks/${endpoint.webhookId}/rotate-secret`);
  await fixture.database.query(
    `update webhook_endpoints set previous_secret_until = now() - interval '1 second' where webhook_id = $1`,
    [endpoint.webhookId],
  );
  await dispatcher.sweep();
  expect(
    await fixture.database.query(`select previous_secret from webhook_endpoints where webhook_id = $1`, [endpoint.webhookId]),
  ).toEqual([{ previous_secret: null }]);
  await serve();
  await until('delivered', () => allDelivered(endpoint, 1));

  await testEvent();
  await until('delivered', () => allDelivered(endpoint, 2));
  await fixture.database.query(
    `update webhook_events set created_at = now() - interval '31 days' where event_id in (
    select event_id from webhook_deliveries where webhook_id = $1 order by position limit 1)`,
    [endpoint.webhookId],
  );
  await dispatcher.sweep();
  expect(await fixture.deliveries(endpoint.webhookId)).toHaveLength(1);
});

test('a stream is lost once its next delivery is overdue, whatever comes after it', async () => {
  const dispatched: string[] = [];
  const [txId] = await cancelledTransfers(1);
  // streams of the tests before this one may still be open
  const startDelivery = ({ subjectId }: { subjectId: string }) =>
    Promise.resolve(subjectId === txId ? void dispatched.push(subjectId) : undefined);
  const dispatcher = new WebhookDispatcher(fixture.database, handingOver(startDelivery), log);
  while ((await dispatcher.dispatch()) > 0);
  dispatched.length = 0;
  const later = `update webhook_deliveries d set next_attempt_at = now() + $2::interval from webhook_events e
                  where e.event_id = d.event_id and d.subject_id = $1 and e.kind = $3`;
  // neither blocked deliveries nor those that are due soon matter
  await fixture.database.query(later, [txId, '-11 minutes', 'transaction.updated']);
  await dispatcher.sweep();
  await dispatcher.dispatch();
  expect(dispatched).toEqual([]);
  await fixture.database.query(later, [txId, '-11 minutes', 'transaction.created']);
  await fixture.database.query(later, [txId, '1 hour', 'transaction.updated']);
  await dispatcher.sweep();
  await dispatcher.dispatch();
  expect(dispatched).toEqual([txId]);
});

test('one sweep deletes all old events except those that are still pending', async () => {
  const dispatcher = new WebhookDispatcher(
    fixture.database,
    handingOver(() => Promise.resolve()),
    log,
  );
  await testEvent();
  await fixture.database.query(
    `insert into webhook_events (client_id, kind, subject_id, snapshot)
       select $1, 'wallet.active', gen_random_uuid(), '{}' from generate_series(1, 2500)`,
    [tenant.clientId],
  );
  await fixture.database.query(`update webhook_events set created_at = now() - interval '31 days' where client_id = $1`, [
    tenant.clientId,
  ]);
  await dispatcher.sweep();
  expect(await fixture.database.query('select kind from webhook_events where client_id = $1', [tenant.clientId])).toEqual([
    { kind: 'webhook.test' },
  ]);
});

test('a sweep that fails does not keep deliveries from being dispatched', async () => {
  const stop = new AbortController();
  const done: string[] = [];
  const startDelivery = ({ webhookId }: { webhookId: string }) =>
    Promise.resolve(void (webhookId === endpoint.webhookId && done.push(webhookId)));
  const dispatcher = new WebhookDispatcher(fixture.database, handingOver(startDelivery), log);
  jest.spyOn(dispatcher, 'sweep').mockImplementation(() => {
    done.push('sweep');
    return Promise.reject(new Error('statement timeout'));
  });
  await testEvent();
  const run = dispatcher.run(stop.signal);
  try {
    await until('swept', () => done.includes('sweep'));
    await testEvent();
    await until('dispatched twice', () => done.length >= 3);
  } finally {
    stop.abort();
    await run;
  }
  // the first is being dispatched while the sweep fails
  expect([done.slice(0, 2).sort(), done[2]]).toEqual([[endpoint.webhookId, 'sweep'].sort(), endpoint.webhookId]);
});

test('a stream whose signal fails does not delay the others', async () => {
  const dispatched: string[] = [];
  const bad = await fixture.endpoint(tenant);
  const dispatcher = new WebhookDispatcher(
    fixture.database,
    handingOver(({ webhookId }) => {
      if (webhookId === bad.webhookId) return Promise.reject(new Error('too many signals'));
      dispatched.push(webhookId);
      return Promise.resolve();
    }),
    log,
  );
  await testEvent(bad);
  await testEvent();
  await expect(dispatcher.dispatch()).rejects.toThrow('too many signals');
  expect(dispatched).toEqual([endpoint.webhookId]);
  await fixture.act(tenant, 'DELETE', `/webhooks/${bad.webhookId}`);
  expect(await dispatcher.dispatch()).toBe(0);
});

test('events during an outage of Temporal are dispatched afterwards', async () => {
  const failures = [new Error('unavailable'), new Error('unavailable')];
  const dispatched: string[] = [];
  const dispatcher = new WebhookDispatcher(
    fixture.database,
    handingOver(({ webhookId }) => {
      const failure = failures.shift();
      if (failure) return Promise.reject(failure);
      dispatched.push(webhookId);
      return Promise.resolve();
    }),
    log,
  );
  await testEvent();
  const passed = () =>
    fixture.database.query(`update webhook_deliveries set undispatched_since = undispatched_since - interval '15 seconds'`);
  await expect(dispatcher.dispatch()).rejects.toThrow('unavailable');
  await passed();
  await expect(dispatcher.dispatch()).rejects.toThrow('unavailable');
  await passed();
  expect(await dispatcher.dispatch()).toBe(1);
  expect(dispatched).toEqual([endpoint.webhookId]);
});
