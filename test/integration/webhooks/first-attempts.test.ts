import { setTimeout as delay } from 'node:timers/promises';
import type { DeliveryStream } from '../../../src/messages/webhooks';
import { SecretBox } from '../../../src/platform/secret-box';
import { createLogger } from '../../../src/platform/logging';
import { type AttemptDependencies, deliverNext } from '../../../src/webhooks/attempt';
import { WebhookDispatcher } from '../../../src/webhooks/dispatcher';
import { EndpointConcurrency } from '../../../src/webhooks/endpoint-concurrency';
import { takeNext } from '../../../src/webhooks/deliveries';
import { firstAttempts } from '../../../src/webhooks/first-attempts';
import { buildTransferRequest } from '../../factories';
import { waitFor } from '../../stack/client';
import { buildFunded, ethereum, type Funded, type Tenant } from '../http/fixture';
import { createWebhookFixture, type Endpoint, type WebhookFixture } from './fixture';
import { type Reply, startReceiver, status, verify } from './receiver';

const log = createLogger('test', 'fatal');
let fixture: WebhookFixture;
let tenant: Tenant;
let endpoint: Endpoint;
let funded: Funded;
/** Streams whose workflow was told. */
let told: DeliveryStream[];

beforeAll(async () => {
  fixture = await createWebhookFixture();
});
afterAll(() => fixture.close());
beforeEach(async () => {
  tenant = await fixture.newTenant();
  funded = await buildFunded(fixture, tenant);
  endpoint = await fixture.endpoint(tenant);
  fixture.receiver.received.length = 0;
  fixture.receiver.replies.length = 0;
  told = [];
  // nothing of earlier tests
  await fixture.database.query('update webhook_deliveries set undispatched_since = null where webhook_id <> $1', [
    endpoint.webhookId,
  ]);
});

interface Changed {
  attempts?: Partial<AttemptDependencies>;
  startDelivery?: () => Promise<void>;
}

/** As a worker runs it, but for the workflows, which are only told. */
const newDispatcher = ({ attempts, startDelivery }: Changed = {}) =>
  new WebhookDispatcher(
    fixture.database,
    {
      firstAttempts: firstAttempts(
        fixture.attempts({
          concurrency: new EndpointConcurrency({ permits: 8, maxWaiting: 100, maxWaitMs: 5_000 }),
          ...attempts,
        }),
      ),
      startDelivery: startDelivery ?? (({ webhookId, subjectId }) => Promise.resolve(void told.push({ webhookId, subjectId }))),
    },
    log,
  );

/** Until nothing is left that could be dispatched now. */
async function dispatchAll(dispatcher: WebhookDispatcher): Promise<void> {
  while ((await dispatcher.dispatch()) > 0);
}

const cancelledTransfers = (count: number) =>
  Promise.all(Array.from({ length: count }, () => fixture.cancelledTransfer(funded.account)));
const transfer = async () =>
  (await fixture.workflows.ledger.lockTransfer(buildTransferRequest(funded.account, ethereum, { tokenSymbol: 'USDC' }))).txId;
const testEvent = async (of = endpoint) =>
  String((await fixture.call('POST', `/webhooks/${of.webhookId}/test`, { tenant })).body['event_id']);
const states = async () => (await fixture.deliveries(endpoint.webhookId)).map(({ status: state }) => state);
const sequences = (txId: string) =>
  fixture.receiver.received
    .filter(({ payload }) => payload.data['tx_id'] === txId)
    .map(({ payload }) => payload.data['sequence']);
const subjects = async () => (await fixture.deliveries(endpoint.webhookId)).map(({ subject_id }) => subject_id);
const expirySeconds = 30;
/** The claims on deliveries and on attempts end. */
const expireClaims = () =>
  fixture.database.query(
    `update webhook_deliveries set undispatched_since = undispatched_since - $2 * interval '1 second',
            next_attempt_at = next_attempt_at - $2 * interval '1 second' where webhook_id = $1 and status = 'pending'`,
    [endpoint.webhookId, expirySeconds],
  );
/** What the workflow of a stream does. */
const runWorkflow = async (stream: DeliveryStream) => {
  for (let waitMs: number | null = 0; waitMs === 0;)
    ({ waitMs } = await deliverNext(fixture.attempts(), { ...stream, busyTimes: 0 }));
};

/** Replies once it is let go. */
function heldReply(code: number): { reply: Reply; letGo: () => void } {
  let letGo!: () => void;
  const released = new Promise<void>((resolve) => (letGo = resolve));
  return { reply: (response, one) => void released.then(() => status(code)(response, one)), letGo };
}

test('what the receiver takes needs no workflow, and arrives in the order of each transaction', async () => {
  const txIds = await cancelledTransfers(5);
  expect(await newDispatcher().dispatch()).toBe(10);
  expect(await states()).toEqual(Array(10).fill('delivered'));
  for (const txId of txIds) expect(sequences(txId)).toEqual([0, 1]);
  for (const one of fixture.receiver.received) verify(endpoint.secret, one);
  expect(told).toEqual([]);
});

test('three dispatchers at once send each event once, and in order', async () => {
  const txIds = await cancelledTransfers(30);
  fixture.receiver.replies.push(
    ...Array.from({ length: 60 }, (): Reply => (response, one) => void delay(20).then(() => status(200)(response, one))),
  );
  const dispatchers = [newDispatcher(), newDispatcher(), newDispatcher()];
  await waitFor(async () => {
    await Promise.all(dispatchers.map((dispatcher) => dispatcher.dispatch()));
    return (await states()).every((state) => state === 'delivered');
  });
  for (const txId of txIds) expect(sequences(txId)).toEqual([0, 1]);
  expect(fixture.receiver.received).toHaveLength(60);
  expect(told).toEqual([]);
});

test('a receiver that is down, then up: the workflow gets what failed and what comes after it, with the same ids and bodies', async () => {
  fixture.receiver.replies.push(status(503));
  const [subjectId = ''] = await cancelledTransfers(1);
  await dispatchAll(newDispatcher());
  expect([sequences(subjectId), told]).toEqual([[0], [{ webhookId: endpoint.webhookId, subjectId }]]);
  await runWorkflow({ webhookId: endpoint.webhookId, subjectId });
  expect(sequences(subjectId)).toEqual([0]);
  await fixture.pass(7);
  await runWorkflow({ webhookId: endpoint.webhookId, subjectId });
  expect(sequences(subjectId)).toEqual([0, 0, 1]);
  const [first, second] = fixture.receiver.received;
  expect([second?.id, second?.body]).toEqual([first?.id, first?.body]);
  expect(await states()).toEqual(['delivered', 'delivered']);
});

test('an event that comes behind one that waits for its retry is not sent before it', async () => {
  fixture.receiver.replies.push(status(503));
  const txId = await transfer();
  await dispatchAll(newDispatcher());
  await fixture.workflows.ledger.cancelTransfer({ txId });
  await dispatchAll(newDispatcher());
  expect(sequences(txId)).toEqual([0]);
  expect(told).toHaveLength(2);
});

test('while an attempt runs no other dispatcher sends what comes behind it, nor tells a workflow', async () => {
  const held = heldReply(200);
  fixture.receiver.replies.push(held.reply);
  const txId = await transfer();
  const first = newDispatcher().dispatch();
  await waitFor(() => fixture.receiver.received.length === 1);
  await fixture.workflows.ledger.cancelTransfer({ txId });
  const other = newDispatcher();
  expect(await other.dispatch()).toBe(1);
  expect([sequences(txId), told]).toEqual([[0], []]);
  held.letGo();
  await first;
  expect(await states()).toEqual(['delivered', 'pending']);
  await waitFor(async () => (await other.dispatch()) > 0);
  expect([sequences(txId), told, await states()]).toEqual([[0, 1], [], ['delivered', 'delivered']]);
});

test('a dispatcher that is to stop begins no further attempt', async () => {
  const held = heldReply(200);
  fixture.receiver.replies.push(held.reply);
  const [txId = ''] = await cancelledTransfers(1);
  const stop = new AbortController();
  const run = newDispatcher().run(stop.signal);
  await waitFor(() => fixture.receiver.received.length === 1);
  stop.abort();
  held.letGo();
  await run;
  expect([sequences(txId), await states(), told]).toEqual([[0], ['delivered', 'pending'], []]);
  await delay(1_000);
  await dispatchAll(newDispatcher());
  expect(sequences(txId)).toEqual([0, 1]);
});

test('a delivery that somebody else is writing keeps no dispatcher waiting', async () => {
  await testEvent();
  const dispatcher = newDispatcher();
  const taken = { webhookId: endpoint.webhookId, subjectId: String((await subjects())[0]) };
  await fixture.database.transaction(async (manager) => {
    await manager.query('select from webhook_deliveries where webhook_id = $1 for update', [endpoint.webhookId]);
    const next = await Promise.race([
      takeNext(fixture.database, taken, { firstOnly: true }),
      delay(20_000, 'waits', { ref: false }),
    ]);
    expect(next).toMatchObject({ claim: null, isFirst: true });
  });
  await dispatchAll(dispatcher);
  expect(await states()).toEqual(['delivered']);
});

test('a workflow and dispatchers at the same stream make one attempt', async () => {
  const [held, subjectId] = [heldReply(200), await testEvent()];
  fixture.receiver.replies.push(held.reply);
  const stream = { webhookId: endpoint.webhookId, subjectId, busyTimes: 0 };
  const begun = [newDispatcher().dispatch(), ...Array.from({ length: 4 }, () => deliverNext(fixture.attempts(), stream))];
  await waitFor(() => fixture.receiver.received.length > 0);
  await delay(500);
  held.letGo();
  await Promise.all(begun);
  expect(fixture.receiver.received).toHaveLength(1);
  expect(await states()).toEqual(['delivered']);
});

test('a worker that dies in the middle of an attempt: another one makes it again, after the end of the claims', async () => {
  const held = heldReply(200);
  fixture.receiver.replies.push(held.reply);
  await testEvent();
  const died = newDispatcher().dispatch();
  await waitFor(() => fixture.receiver.received.length === 1);
  const other = newDispatcher();
  expect([await other.dispatch(), fixture.receiver.received.length]).toEqual([0, 1]);
  await expireClaims();
  expect([await other.dispatch(), await states(), told]).toEqual([1, ['delivered'], []]);
  const [first, second] = fixture.receiver.received;
  expect([second?.id, second?.body]).toEqual([first?.id, first?.body]);
  held.letGo();
  await died;
  expect(await states()).toEqual(['delivered']);
});

test('a worker that dies between an attempt that failed and its workflow: another one tells the workflow', async () => {
  fixture.receiver.replies.push(status(500));
  const subjectId = await testEvent();
  void newDispatcher({ startDelivery: () => new Promise(() => undefined) }).dispatch();
  await waitFor(async () => (await fixture.deliveries(endpoint.webhookId))[0]?.attempts === 1);
  const other = newDispatcher();
  expect([await other.dispatch(), told]).toEqual([0, []]);
  await expireClaims();
  expect([await other.dispatch(), told]).toEqual([1, [{ webhookId: endpoint.webhookId, subjectId }]]);
  // the retry is the workflow's, even when it is due
  expect(fixture.receiver.received).toHaveLength(1);
});

test("what is sent again by hand is the workflow's", async () => {
  const subjectId = await testEvent();
  await dispatchAll(newDispatcher());
  const [delivery] = await fixture.deliveries(endpoint.webhookId);
  await fixture.call('POST', `/webhooks/${endpoint.webhookId}/deliveries/${delivery?.delivery_id}/resend`, { tenant });
  await dispatchAll(newDispatcher());
  expect([fixture.receiver.received.length, told]).toEqual([1, [{ webhookId: endpoint.webhookId, subjectId }]]);
});

const resend = async () => {
  const [delivery] = await fixture.deliveries(endpoint.webhookId);
  const path = `/webhooks/${endpoint.webhookId}/deliveries/${delivery?.delivery_id}/resend`;
  expect(await fixture.call('POST', path, { tenant })).toMatchObject({ status: 200 });
};

test('what is sent again by hand while its first attempt is being made is sent once', async () => {
  const held = heldReply(200);
  fixture.receiver.replies.push(held.reply);
  const subjectId = await testEvent();
  const first = newDispatcher().dispatch();
  await waitFor(() => fixture.receiver.received.length === 1);
  await resend();
  await dispatchAll(newDispatcher());
  await deliverNext(fixture.attempts(), { webhookId: endpoint.webhookId, subjectId, busyTimes: 0 });
  held.letGo();
  await first;
  await delay(1_100);
  await dispatchAll(newDispatcher());
  expect([fixture.receiver.received.length, await states(), told]).toEqual([1, ['delivered'], []]);
});

test('what is sent again by hand while an attempt is being made that fails, or whose worker dies, is sent again', async () => {
  const [failing, dying] = [heldReply(500), heldReply(200)];
  fixture.receiver.replies.push(failing.reply, dying.reply);
  const subjectId = await testEvent();
  const stream = { webhookId: endpoint.webhookId, subjectId };
  const first = newDispatcher().dispatch();
  await waitFor(() => fixture.receiver.received.length === 1);
  await resend();
  failing.letGo();
  await first;
  await dispatchAll(newDispatcher());
  expect(told).toContainEqual(stream);
  expect(await states()).toEqual(['pending']);
  await fixture.pass(7);
  const died = runWorkflow(stream);
  await waitFor(() => fixture.receiver.received.length === 2);
  await resend();
  await fixture.pass(expirySeconds);
  await dispatchAll(newDispatcher());
  await runWorkflow(stream);
  expect([fixture.receiver.received.length, await states()]).toEqual([3, ['delivered']]);
  // sent by hand when it has arrived: once more
  dying.letGo();
  await died;
  await resend();
  await runWorkflow(stream);
  expect([fixture.receiver.received.length, await states()]).toEqual([4, ['delivered']]);
});

/** Events about as many subjects, all at once. */
const burst = (count: number, of: Endpoint) =>
  fixture.database.query(
    `with event as (
       insert into webhook_events (event_id, client_id, kind, subject_id, snapshot)
       select id, $1, 'webhook.test', id, jsonb_build_object('webhook_id', $2::uuid, 'message', 'one of many')
         from (select gen_random_uuid() as id from generate_series(1, $3::int)) ids
       returning event_id, subject_id, position)
     insert into webhook_deliveries (webhook_id, event_id, subject_id, position) select $2, event_id, subject_id, position from event`,
    [tenant.clientId, of.webhookId, count],
  );
/** As in a worker. */
const limited = () => new EndpointConcurrency({ permits: 8, maxWaiting: 32, maxWaitMs: 1_000 });

test('a burst of 400 events at a receiver that answers starts no workflow, and arrives within seconds', async () => {
  const stop = new AbortController();
  await burst(400, endpoint);
  const begun = Date.now();
  // a wait that ends makes a workflow: on a busy machine none may end
  const concurrency = new EndpointConcurrency({ permits: 8, maxWaiting: 32, maxWaitMs: 20_000 });
  const run = newDispatcher({ attempts: { concurrency } }).run(stop.signal);
  try {
    await waitFor(() => fixture.receiver.received.length + told.length >= 400, { timeoutMs: 20_000 });
    process.stdout.write(`400 events: ${told.length} workflows, ${Date.now() - begun} ms\n`);
  } finally {
    stop.abort();
    await run;
  }
  expect([told.length, new Set(fixture.receiver.received.map(({ id }) => id)).size]).toEqual([0, 400]);
});

test('a burst of 400 events at a receiver that does not answer delays none of another client, and all of it becomes the workflows', async () => {
  const hanging = await startReceiver();
  const stop = new AbortController();
  hanging.replies.push(...Array.from({ length: 400 }, (): Reply => () => undefined));
  const slow = await fixture.endpoint(tenant, { url: hanging.url });
  await burst(400, slow);
  const limits = { connectMs: 1_000, totalMs: 1_000 };
  const run = newDispatcher({ attempts: { concurrency: limited(), limits } }).run(stop.signal);
  try {
    await waitFor(() => hanging.received.length > 0);
    for (let count = 0; count < 5; count += 1) {
      const [begun, eventId] = [Date.now(), await testEvent()];
      await waitFor(() => fixture.receiver.received.some(({ id }) => id === eventId));
      expect(Date.now() - begun).toBeLessThan(8_000);
    }
    await waitFor(() => told.length === 400, { timeoutMs: 30_000 });
    expect(told.every(({ webhookId }) => webhookId === slow.webhookId)).toBe(true);
  } finally {
    stop.abort();
    await hanging.close();
    await run;
  }
});

test('receivers that do not answer delay no other, and get eight requests at once', async () => {
  const hanging = await startReceiver();
  const stop = new AbortController();
  const concurrency = new EndpointConcurrency({ permits: 8, maxWaiting: 32, maxWaitMs: 1_000 });
  const limits = { connectMs: 3_000, totalMs: 3_000 };
  const run = newDispatcher({ attempts: { concurrency, limits } }).run(stop.signal);
  try {
    hanging.replies.push(...Array.from({ length: 200 }, (): Reply => () => undefined));
    const slow = await fixture.endpoint(tenant, { url: hanging.url });
    for (let count = 0; count < 120; count += 1) await testEvent(slow);
    await waitFor(() => hanging.received.length === 8);
    const [begun, eventId] = [Date.now(), await testEvent()];
    await waitFor(() => fixture.receiver.received.some(({ id }) => id === eventId));
    expect(Date.now() - begun).toBeLessThan(8_000);
    await waitFor(() => told.length > 100, { timeoutMs: 20_000 });
    expect(told.every(({ webhookId }) => webhookId === slow.webhookId)).toBe(true);
    expect(hanging.received.length).toBeLessThan(60);
  } finally {
    stop.abort();
    await hanging.close();
    await run;
  }
});

test("what cannot be attempted is the workflow's at once", async () => {
  const box = new SecretBox('07'.repeat(32), 'WEBHOOK_SECRETS_KEY');
  const subjectId = await testEvent();
  await expect(newDispatcher({ attempts: { box } }).dispatch()).rejects.toThrow();
  expect(told).toEqual([{ webhookId: endpoint.webhookId, subjectId }]);
  await runWorkflow({ webhookId: endpoint.webhookId, subjectId });
  expect(await states()).toEqual(['delivered']);
});

test('while Temporal is away events are sent; a retry waits for it', async () => {
  fixture.receiver.replies.push(status(500));
  await testEvent();
  await testEvent();
  const startDelivery = () => Promise.reject(new Error('unavailable'));
  await expect(newDispatcher({ startDelivery }).dispatch()).rejects.toThrow('unavailable');
  expect((await states()).sort()).toEqual(['delivered', 'pending']);
  await waitFor(async () => (await newDispatcher().dispatch()) > 0);
  expect(told).toHaveLength(1);
});

test('a secret that was replaced signs, and a disabled endpoint gets nothing', async () => {
  const { body } = await fixture.act(tenant, 'POST', `/webhooks/${endpoint.webhookId}/rotate-secret`, { overlap_hours: 0 });
  await testEvent();
  await dispatchAll(newDispatcher());
  verify(String(body['secret']), fixture.receiver.received[0] as never);
  await testEvent();
  // written at the moment it was disabled
  await fixture.database.query(
    `update webhook_endpoints set status = 'disabled', disabled_reason = 'client', disabled_at = now() where webhook_id = $1`,
    [endpoint.webhookId],
  );
  await dispatchAll(newDispatcher());
  expect([fixture.receiver.received.length, await states(), told]).toEqual([1, ['delivered', 'failed'], []]);
});
