import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { activateWallet } from '../../../src/wallets/activate-wallet';
import { formatAmount } from '../../../src/platform/money';
import { failureCodes } from '../../../src/platform/codes';
import { newId } from '../../../src/platform/ids';
import { toPayload, type StoredEvent } from '../../../src/webhooks/events';
import { setTimeout as delay } from 'node:timers/promises';
import { createLogger } from '../../../src/platform/logging';
import { WebhookDispatcher } from '../../../src/webhooks/dispatcher';
import { confirmDeposits } from '../../../src/deposits/confirm';
import { recordDeposits } from '../../../src/deposits/record';
import { buildDeposit, buildKey, buildTransferRequest, randomAddress } from '../../factories';
import { buildFunded, ethereum, type Funded, type Tenant } from '../http/fixture';
import { AnswerCheck, readDocument } from '../../openapi';
import { createWebhookFixture, handingOver, type WebhookFixture } from './fixture';

let fixture: WebhookFixture;
let tenant: Tenant;
let funded: Funded;
let documented: AnswerCheck;
beforeAll(async () => {
  fixture = await createWebhookFixture();
  const { body } = await fixture.call('GET', '/openapi.json', { tenant: null });
  documented = new AnswerCheck(readDocument(body));
});
afterAll(() => fixture.close());
beforeEach(async () => {
  tenant = await fixture.newTenant();
  funded = await buildFunded(fixture, tenant);
});

interface EventRow {
  event_id: string;
  kind: StoredEvent['kind'];
  snapshot: Record<string, unknown>;
  created_at: Date;
}
const eventsOf = (clientId = tenant.clientId): Promise<EventRow[]> =>
  fixture.database.query(
    'select event_id, kind, snapshot, created_at from webhook_events where client_id = $1 order by position',
    [clientId],
  );
/** As it is sent; it must be what the OpenAPI document says of such an event. */
const payload = ({ kind, snapshot, created_at }: EventRow) => {
  const body = JSON.parse(toPayload({ kind, snapshot, createdAt: created_at }, true)) as {
    type: string;
    timestamp: string;
    data: Record<string, unknown>;
  };
  expect(documented.eventComplaint(kind, body)).toBeNull();
  return body;
};
const transfer = async (amount = '1'): Promise<string> => {
  const request = buildTransferRequest(funded.account, ethereum, {
    tokenSymbol: 'USDC',
    amount,
    clientId: tenant.clientId,
    memo: 'rent',
    externalId: `rent-${newId()}`,
  });
  return (await fixture.workflows.ledger.lockTransfer(request)).txId;
};

test('nothing is written for a client without an enabled endpoint', async () => {
  await transfer();
  expect(await eventsOf()).toEqual([]);
  const { webhookId } = await fixture.endpoint(tenant);
  await fixture.act(tenant, 'PUT', `/webhooks/${webhookId}`, { status: 'disabled' });
  await transfer();
  expect(await eventsOf()).toEqual([]);
});

test('a transfer: one event per state change, as the API presents it, counted by `sequence`', async () => {
  const { webhookId } = await fixture.endpoint(tenant);
  const txId = await transfer('12.5');
  const created = (await fixture.call('GET', '/transactions', { tenant })).body.data[0];
  await fixture.workflows.ledger.cancelTransfer({ txId });
  await fixture.workflows.ledger.cancelTransfer({ txId });
  const events = await eventsOf();
  expect(events.map(({ kind }) => kind)).toEqual(['transaction.created', 'transaction.updated']);
  const [first, second] = events.map(payload);
  expect(first).toEqual({
    type: 'transaction.created',
    timestamp: events[0]?.created_at.toISOString(),
    data: {
      ...(created as object),
      memo: 'rent',
      fee: null,
      failure: null,
      updated_at: expect.stringMatching(/Z$/),
      sequence: 0,
    },
  });
  expect(second?.data).toMatchObject({ tx_id: txId, status: 'CANCELLED', amount: '12.5', sequence: 1 });
  const written = await fixture.database.query('select seq, status from transaction_events where tx_id = $1 order by seq', [
    txId,
  ]);
  expect([first, second].map((event) => ({ seq: event?.data['sequence'], status: event?.data['status'] }))).toEqual(written);
  expect(await fixture.deliveries(webhookId)).toMatchObject(
    events.map(({ event_id }) => ({ event_id, status: 'pending', subject_id: txId })),
  );
  // like all public ids: version 7, by time
  const ids = (await fixture.deliveries(webhookId)).flatMap(({ event_id, delivery_id }) => [event_id, delivery_id]);
  expect(ids).toHaveLength(4);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

test('a change that is rolled back leaves no event', async () => {
  await fixture.endpoint(tenant);
  const txId = await transfer();
  const before = await eventsOf();
  await expect(
    fixture.database.transaction(async (manager) => {
      await manager.query(`update wallets set status = 'SUSPENDED' where wallet_id = $1`, [funded.wallet.walletId]);
      await manager.query(`update wallets set status = 'ACTIVE' where wallet_id = $1`, [funded.wallet.walletId]);
      await manager.query(`update transactions set status = 'NEEDS_ATTENTION', version = version + 1 where tx_id = $1`, [txId]);
      const inside = await manager.query('select kind from webhook_events where client_id = $1 order by position', [
        tenant.clientId,
      ]);
      expect(inside.slice(-3)).toEqual([
        ...[{ kind: 'wallet.active' }, { kind: 'transaction.updated' }, { kind: 'transaction.needs_attention' }],
      ]);
      throw new Error('rolled back');
    }),
  ).rejects.toThrow('rolled back');
  expect(await eventsOf()).toEqual(before);
});

test('a parked transfer: an event of its own beside that of its state, with the code and a sentence, and nothing that is for operators', async () => {
  await fixture.endpoint(tenant);
  const txId = await transfer();
  const { ledger } = fixture.workflows;
  const reason = 'node 2: the limits of node 3 refuse it (https://rpc.internal/key)';
  for (const code of ['node_policy', 'signers_unavailable'] as const) await ledger.parkTransfer({ txId, code, reason });
  const [, updated, parked, ...others] = (await eventsOf()).map(payload);
  expect(others).toEqual([]);
  expect([updated?.type, parked?.type]).toEqual(['transaction.updated', 'transaction.needs_attention']);
  expect(parked?.data).toEqual(updated?.data);
  const message = (title: string) => `${title}. An operator of the gateway has to decide`;
  expect(parked?.data).toMatchObject({
    ...{ tx_id: txId, status: 'NEEDS_ATTENTION', sequence: 1 },
    failure: { code: 'node_policy', message: message(failureCodes.node_policy.title) },
  });
  const { body } = await fixture.call('GET', `/transactions/${txId}`, { tenant });
  expect(body).toMatchObject({
    failure: { code: 'signers_unavailable', message: message(failureCodes.signers_unavailable.title) },
  });
  expect(JSON.stringify([updated, parked, body])).not.toMatch(/nodes? \d|rpc\.internal/i);
  // what it leaves the state with is an event of the state again
  await ledger.cancelTransfer({ txId });
  expect((await eventsOf()).map(payload).slice(3)).toMatchObject([
    { type: 'transaction.updated', data: { status: 'CANCELLED', sequence: 2, failure: null } },
  ]);
});

test('a change that is not a state change makes no event', async () => {
  await fixture.endpoint(tenant);
  const txId = await transfer();
  await fixture.database.query(`update transactions set screening_note = 'seen' where tx_id = $1`, [txId]);
  await fixture.database.query(`update wallets set description = 'x' where wallet_id = $1`, [funded.wallet.walletId]);
  expect((await eventsOf()).map(({ kind }) => kind)).toEqual(['transaction.created']);
});

test('a deposit is detected, confirmed and, after a reorganisation, updated', async () => {
  await fixture.endpoint(tenant);
  const deposit = buildDeposit(funded.account, ethereum, 'USDC', 1_500_000n);
  await fixture.database.transaction((manager) => recordDeposits(manager, ethereum, [deposit]));
  await fixture.database.transaction((manager) =>
    confirmDeposits(manager, ethereum, deposit.blockNumber + ethereum.confirmations - 1),
  );
  const events = (await eventsOf()).map(payload);
  expect(events.map(({ type, data }) => [type, data['status'], data['amount'], data['sequence'], data['tx_hash']])).toEqual([
    ['deposit.detected', 'DETECTED', '1.5', 0, deposit.txHash],
    ['deposit.confirmed', 'CONFIRMED', '1.5', 1, deposit.txHash],
  ]);
});

test('wallets that become active and security factors that change', async () => {
  await fixture.endpoint(tenant);
  const walletId = newId();
  await fixture.database.query(
    `insert into wallets (wallet_id, client_id, wallet_name, external_id) values ($1, $2, 'w', 'w-1')`,
    [walletId, tenant.clientId],
  );
  const key = await buildKey(fixture.database, walletId);
  await activateWallet(fixture.database, key);
  await activateWallet(fixture.database, key);
  const factorId = newId();
  await fixture.database.query(
    `insert into security_factors (factor_id, client_id, factor_type, chain, address, address_key, added_by) values ($1, $2, 'BLACKLIST', 'ethereum', $3, $3, $4)`,
    [factorId, tenant.clientId, randomAddress(), tenant.userId],
  );
  for (const change of [`status = 'inactive'`, `status = 'active'`, `updated_at = now()`, `deleted_at = now()`])
    await fixture.database.query(`update security_factors set ${change} where factor_id = $1`, [factorId]);
  const [wallet, ...factors] = (await eventsOf()).map(payload);
  const shown = (await fixture.call('GET', `/wallets/${walletId}`, { tenant })).body;
  expect(wallet).toEqual({ type: 'wallet.active', timestamp: expect.any(String), data: { ...shown, external_id: 'w-1' } });
  const [event] = await eventsOf();
  const snapshot = Object.fromEntries(Object.entries(event?.snapshot ?? {}).filter(([field]) => field !== 'external_id'));
  const older = payload({ ...(event as NonNullable<typeof event>), snapshot });
  expect(older.data).toMatchObject({ wallet_id: walletId, external_id: null });
  expect(factors.map(({ type, data }) => [type, data['change'], data['status']])).toEqual([
    ['security_factor.changed', 'created', 'active'],
    ['security_factor.changed', 'deactivated', 'inactive'],
    ['security_factor.changed', 'activated', 'active'],
    ['security_factor.changed', 'deleted', 'active'],
  ]);
});

test('each endpoint gets the kinds it wants, each client its own events', async () => {
  const all = await fixture.endpoint(tenant);
  const some = await fixture.endpoint(tenant, { events: ['transaction.updated', 'deposit.detected'] });
  const foreign = await fixture.endpoint(await fixture.newTenant());
  const txId = await transfer();
  await fixture.workflows.ledger.cancelTransfer({ txId });
  const kinds = async (webhookId: string) => (await fixture.deliveries(webhookId)).map(({ kind }) => kind);
  expect(await kinds(all.webhookId)).toEqual(['transaction.created', 'transaction.updated']);
  expect(await kinds(some.webhookId)).toEqual(['transaction.updated']);
  expect(await kinds(foreign.webhookId)).toEqual([]);
});

test('changes at the same time leave an event each, in the order of each transaction', async () => {
  await fixture.endpoint(tenant);
  const txIds = await Promise.all(Array.from({ length: 20 }, () => transfer()));
  await Promise.all(txIds.map((txId) => fixture.workflows.ledger.cancelTransfer({ txId })));
  const events = (await eventsOf()).map(payload);
  expect(events).toHaveLength(40);
  for (const txId of txIds)
    expect(events.filter(({ data }) => data['tx_id'] === txId).map(({ data }) => data['sequence'])).toEqual([0, 1]);
});

test('an endpoint that is deleted meanwhile does not prevent a change of a transfer', async () => {
  const endpoints = [];
  for (let count = 0; count < 5; count += 1) endpoints.push(await fixture.endpoint(tenant));
  const deleted = (async () => {
    for (const { webhookId } of endpoints) await fixture.act(tenant, 'DELETE', `/webhooks/${webhookId}`);
  })();
  const txIds = await Promise.all(Array.from({ length: 20 }, () => transfer()));
  await deleted;
  expect(new Set(txIds).size).toBe(20);
  const left = await fixture.database.query(
    `select 1 from webhook_deliveries d join webhook_endpoints w using (webhook_id)
    where w.client_id = $1 and w.deleted_at is null`,
    [tenant.clientId],
  );
  expect(left).toEqual([]);
});

test('amounts in events equal formatAmount whatever their size', () => {
  const times = { created_at: '2026-01-01T00:00:00.123456+00:00', updated_at: '2026-01-01T00:00:00+00:00' };
  const row = { tx_id: randomUUID(), transaction_type: 'INBOUND', ...times };
  fc.assert(
    fc.property(
      fc.bigInt(0n, 10n ** 78n - 1n),
      fc.integer({ min: 0, max: 36 }),
      fc.bigInt(0n, 10n ** 30n),
      (amount, decimals, fee) => {
        const snapshot = {
          ...row,
          amount: String(amount),
          decimals,
          fee: String(fee),
          fee_symbol: 'ETH',
          fee_decimals: 18,
          failure_code: null,
        };
        const { data } = JSON.parse(toPayload({ kind: 'transaction.updated', snapshot, createdAt: new Date(0) }, true));
        expect(data).toMatchObject({
          amount: formatAmount(amount, decimals),
          fee: { amount: formatAmount(fee, 18), symbol: 'ETH' },
          created_at: '2026-01-01T00:00:00.123Z',
        });
      },
    ),
  );
});

test('the largest amount passes through the database unchanged', async () => {
  await fixture.endpoint(tenant);
  const deposit = buildDeposit(funded.account, ethereum, 'USDC', 10n ** 77n + 1n);
  await fixture.database.transaction((manager) => recordDeposits(manager, ethereum, [deposit]));
  expect((await eventsOf()).map(payload)[0]?.data['amount']).toBe(formatAmount(10n ** 77n + 1n, 6));
});

describe('dispatchers of several workers', () => {
  const silent = createLogger('test', 'fatal');
  const passed = (time: '15 seconds' | '30 seconds') =>
    fixture.database.query('update webhook_deliveries set undispatched_since = undispatched_since - $1::interval', [time]);
  const undispatched = async (webhookId: string) => {
    const [row] = await fixture.database.query<{ count: number }[]>(
      'select count(*)::int as count from webhook_deliveries where webhook_id = $1 and undispatched_since is not null',
      [webhookId],
    );
    return row?.count;
  };
  /** Nothing of earlier tests. */
  const dispatchAll = () => fixture.database.query('update webhook_deliveries set undispatched_since = null');

  test('three of them signal the workflow of every delivery once', async () => {
    await dispatchAll();
    const { webhookId } = await fixture.endpoint(tenant);
    const txIds = await Promise.all(Array.from({ length: 40 }, () => transfer()));
    const signalled: string[] = [];
    const signal = async ({ subjectId }: { subjectId: string }) => {
      signalled.push(subjectId);
      await delay(20);
    };
    const dispatchers = [1, 2, 3].map(() => new WebhookDispatcher(fixture.database, handingOver(signal), silent));
    const counts = await Promise.all(dispatchers.map((dispatcher) => dispatcher.dispatch()));
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(40);
    expect(signalled.sort()).toEqual(txIds.sort());
    expect(await undispatched(webhookId)).toBe(0);
  });

  test('one that is being written delays none of the others', async () => {
    await dispatchAll();
    const { webhookId } = await fixture.endpoint(tenant);
    await Promise.all([transfer(), transfer(), transfer()]);
    const dispatcher = new WebhookDispatcher(
      fixture.database,
      handingOver(() => Promise.resolve()),
      silent,
    );
    await fixture.database.transaction(async (manager) => {
      await manager.query(`select from webhook_deliveries where webhook_id = $1 order by undispatched_since limit 1 for update`, [
        webhookId,
      ]);
      expect(await Promise.race([dispatcher.dispatch(), delay(20_000, undefined, { ref: false })])).toBe(2);
    });
    expect([await dispatcher.dispatch(), await undispatched(webhookId)]).toEqual([1, 0]);
  });

  test('while Temporal is away none is lost, and none waits for the end of a claim', async () => {
    await dispatchAll();
    const { webhookId } = await fixture.endpoint(tenant);
    await Promise.all(Array.from({ length: 40 }, () => transfer()));
    let isAway = true;
    let signals = 0;
    const signal = () => ((signals += 1), isAway ? Promise.reject(new Error('away')) : Promise.resolve());
    const dispatcher = new WebhookDispatcher(fixture.database, handingOver(signal), silent);
    await expect(dispatcher.dispatch()).rejects.toThrow('away');
    expect([signals, await dispatcher.dispatch()]).toEqual([40, 0]);
    isAway = false;
    await passed('15 seconds');
    expect(await dispatcher.dispatch()).toBe(40);
    expect(await undispatched(webhookId)).toBe(0);
  });

  test('Temporal is asked for ten workflows at a time', async () => {
    await dispatchAll();
    const { webhookId } = await fixture.endpoint(tenant);
    await Promise.all(Array.from({ length: 40 }, () => transfer()));
    let [running, most] = [0, 0];
    const signal = async () => {
      most = Math.max(most, (running += 1));
      await delay(20);
      running -= 1;
    };
    expect(await new WebhookDispatcher(fixture.database, handingOver(signal), silent).dispatch()).toBe(40);
    expect([most, await undispatched(webhookId)]).toEqual([10, 0]);
  });

  test('what a worker had taken when it died is taken by another one later', async () => {
    await dispatchAll();
    const { webhookId } = await fixture.endpoint(tenant);
    await transfer();
    let take!: () => void;
    const taken = new Promise<void>((resolve) => (take = resolve));
    const died = new WebhookDispatcher(
      fixture.database,
      handingOver(() => (take(), new Promise(() => undefined))),
      silent,
    );
    void died.dispatch();
    await taken;
    const other = new WebhookDispatcher(
      fixture.database,
      handingOver(() => Promise.resolve()),
      silent,
    );
    expect([await other.dispatch(), await undispatched(webhookId)]).toEqual([0, 1]);
    await passed('30 seconds');
    expect([await other.dispatch(), await undispatched(webhookId)]).toEqual([1, 0]);
  });
});
