import * as fc from 'fast-check';
import type { DataSource } from 'typeorm';
import { ListCounts0094 } from '../../../migrations/0094-list-counts';
import { ShownAssets0095 } from '../../../migrations/0095-shown-assets';
import { AddedAssets0098 } from '../../../migrations/0098-added-assets';
import { foldListCounts } from '../../../src/http/list-totals';
import { newId } from '../../../src/platform/ids';
import { failAllPending, takeNext } from '../../../src/webhooks/deliveries';
import { DeliveryRepository } from '../../../src/webhooks/delivery-repository';
import { WebhookDispatcher } from '../../../src/webhooks/dispatcher';
import { recordAttempt } from '../../../src/webhooks/record-attempt';
import { buildAccount, fundAccount } from '../../factories';
import { buildFunded, ethereum, registry, type Tenant } from '../http/fixture';
import { openDatabase } from '../../stack/database';
import { createWebhookFixture, handingOver, type WebhookFixture } from './fixture';

/** The totals of lists of deliveries are those of a count, whatever happens at the same time. */

const statuses = ['pending', 'delivered', 'failed'] as const;

let fixture: WebhookFixture;
/** By the worker's own login. */
let worker: DataSource;
beforeAll(async () => {
  fixture = await createWebhookFixture();
  worker = await openDatabase((await fixture.logins()).gateway_worker, { poolSize: 10 });
});
afterAll(async () => {
  await worker.destroy();
  await fixture.close();
});

const rowsOf = <T>(sql: string, parameters: unknown[] = []) => fixture.database.query<T[]>(sql, parameters);

/** What is kept and what is there, of every endpoint and status that has either. */
const differences = () =>
  rowsOf(
    `select subject_id, part, kept, counted from (
       select subject_id, part, sum(counted) as kept from list_counts where list = 'deliveries' group by 1, 2) k
       full join (select webhook_id as subject_id, status as part, count(*) as counted from webhook_deliveries group by 1, 2) c
            using (subject_id, part)
      where coalesce(kept, 0) <> coalesce(counted, 0)`,
  );

const totalOf = async (tenant: Tenant, webhookId: string, status?: string): Promise<number> => {
  const query = status === undefined ? '' : `?status=${status}`;
  return Number((await fixture.call('GET', `/webhooks/${webhookId}/deliveries${query}`, { tenant })).body['total']);
};

async function expectTotals(tenant: Tenant, webhookId: string): Promise<void> {
  for (const status of [undefined, ...statuses]) {
    const [counted] = await rowsOf<{ count: number }>(
      'select count(*)::int as count from webhook_deliveries where webhook_id = $1 and status = coalesce($2, status)',
      [webhookId, status],
    );
    expect([status, await totalOf(tenant, webhookId, status)]).toEqual([status, counted?.count]);
  }
}

const outcome = (statusCode: number) => ({
  ...{ at: new Date(), durationMs: 1, statusCode, error: null, excerpt: '', retryAfter: null },
});

/** What processes do with deliveries; `which`: of the endpoints and subjects of a world. */
const operation = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('event' as const), which: fc.nat(3), count: fc.integer({ min: 1, max: 5 }) }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('attempt' as const), which: fc.nat(7), status: fc.constantFrom(200, 500, 500, 410) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('resend' as const), which: fc.nat(7) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('resendFailed' as const), which: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('fail' as const), which: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('forget' as const), which: fc.nat(3) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('fold' as const) }) },
);
type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;
interface Step {
  work: Operation;
  isRolledBack: boolean;
}
const writer: fc.Arbitrary<Step[]> = fc.array(
  fc.record({ work: operation, isRolledBack: fc.constantFrom(false, false, false, true) }),
  {
    minLength: 5,
    maxLength: 25,
  },
);

interface World {
  tenant: Tenant;
  webhookIds: [string, string];
  subjects: string[];
}

const rolledBack = new Error('rolled back');
const dispatcher = () =>
  new WebhookDispatcher(
    worker,
    handingOver(() => Promise.resolve()),
    fixture.log,
  );

async function carryOut({ tenant, webhookIds, subjects }: World, { work, isRolledBack }: Step): Promise<void> {
  const webhookId = webhookIds['which' in work ? work.which % 2 : 0] as string;
  const subjectId = subjects['which' in work ? work.which >> 1 : 0] as string;
  const repository = new DeliveryRepository(fixture.database);
  /** Under the endpoint's lock, as those who resend or disable it. */
  const locked = (run: (manager: Parameters<typeof failAllPending>[0]) => Promise<unknown>) =>
    fixture.database.transaction(async (manager) => {
      await manager.query('select from webhook_endpoints where webhook_id = $1 for no key update', [webhookId]);
      await run(manager);
      if (isRolledBack) throw rolledBack;
    });
  switch (work.do) {
    case 'event':
      return fixture.database.transaction(async (manager) => {
        for (let count = 0; count < work.count; count += 1)
          await manager.query(`select enqueue_webhook_event($1, 'wallet.active', $2, '{}')`, [tenant.clientId, subjectId]);
        if (isRolledBack) throw rolledBack;
      });
    case 'attempt': {
      const next = await takeNext(worker, { webhookId, subjectId });
      if (next?.claim) await recordAttempt(worker, { deliveryId: next.deliveryId, url: 'another' }, outcome(work.status), [0]);
      return;
    }
    case 'resend': {
      const [found] = await rowsOf<{ delivery_id: string }>(
        `select delivery_id from webhook_deliveries where webhook_id = $1 and subject_id = $2 order by random() limit 1`,
        [webhookId, subjectId],
      );
      if (found) await locked((manager) => repository.resend(manager, webhookId, found.delivery_id));
      return;
    }
    case 'resendFailed':
      return locked((manager) => repository.resendFailed(manager, webhookId, new Date(0)));
    case 'fail':
      return locked((manager) => failAllPending(manager, webhookId));
    case 'forget':
      await rowsOf(`update webhook_events set created_at = now() - interval '40 days' where subject_id = $1`, [subjectId]);
      return dispatcher().sweep();
    case 'fold':
      return foldListCounts(worker);
  }
}

const deadlock = '40P01';
const isExpected = (error: unknown): boolean =>
  error === rolledBack || (error as { driverError?: { code?: string } }).driverError?.code === deadlock;

test('of random operations of two writers at once: what is added, attempted, sent again, failed, forgotten and rolled back', async () => {
  const counts = { changes: 0, deliveries: 0 };
  await fc.assert(
    fc.asyncProperty(writer, writer, async (...writers) => {
      const tenant = await fixture.newTenant();
      const webhookIds: World['webhookIds'] = [
        (await fixture.endpoint(tenant)).webhookId,
        (await fixture.endpoint(tenant)).webhookId,
      ];
      const world = { tenant, webhookIds, subjects: [newId(), newId(), newId(), newId()] };
      await Promise.all(
        writers.map(async (steps) => {
          for (const step of steps)
            await carryOut(world, step).catch((error: unknown) => {
              // `no longer exists`: forgotten during its attempt
              if (!isExpected(error) && !/no longer exists/.test(String(error))) throw error;
            });
        }),
      );
      expect(await differences()).toEqual([]);
      for (const webhookId of webhookIds) await expectTotals(tenant, webhookId);
      const [row] = await rowsOf<{ changes: number; deliveries: number }>(
        `select (select count(*)::int from list_counts where change_id > 0) as changes, (select count(*)::int from webhook_deliveries) as deliveries`,
      );
      counts.changes += row?.changes ?? 0;
      counts.deliveries += row?.deliveries ?? 0;
    }),
    { numRuns: 25, endOnFailure: true },
  );
  // it was about something
  expect(counts.changes).toBeGreaterThan(100);
  expect(counts.deliveries).toBeGreaterThan(100);
}, 180_000);

async function insertMany(webhookId: string, tenant: Tenant, count: number): Promise<void> {
  await rowsOf(
    `with events as (
       insert into webhook_events (client_id, kind, subject_id, snapshot)
       select $2, 'wallet.active', gen_random_uuid(), '{}' from generate_series(1, $3::int) returning event_id, subject_id, position)
     insert into webhook_deliveries (webhook_id, event_id, subject_id, position, status, ended_at, next_attempt_at, undispatched_since)
     select $1, event_id, subject_id, position, case when position % 4 = 0 then 'failed' else 'delivered' end, now(), null, null from events`,
    [webhookId, tenant.clientId, count],
  );
}

test('all pages of 2,511 deliveries, from both ends and in each state: each once, the newest event first', async () => {
  const tenant = await fixture.newTenant();
  const { webhookId } = await fixture.endpoint(tenant);
  await insertMany(webhookId, tenant, 2_511);
  for (const [status, size] of [
    [undefined, 100],
    [undefined, 83],
    ['delivered', 97],
    ['failed', 50],
    ['pending', 10],
  ] as const) {
    const stored = await rowsOf<{ delivery_id: string }>(
      'select delivery_id from webhook_deliveries where webhook_id = $1 and status = coalesce($2, status) order by position desc',
      [webhookId, status],
    );
    const seen: string[] = [];
    for (let page = 1; ; page += 1) {
      const query = `page=${page}&page_size=${size}${status ? `&status=${status}` : ''}`;
      const { body } = await fixture.call('GET', `/webhooks/${webhookId}/deliveries?${query}`, { tenant });
      seen.push(...body.data.map((delivery) => String(delivery['delivery_id'])));
      expect([page, body['total'], body['has_more']]).toEqual([page, stored.length, page * size < stored.length]);
      if (body.data.length === 0) break;
    }
    expect(seen).toEqual(stored.map(({ delivery_id: id }) => id));
  }
});

test('a total is the same while changes are added up, by two at once', async () => {
  const tenant = await fixture.newTenant();
  const { webhookId } = await fixture.endpoint(tenant);
  await foldListCounts(worker);
  for (let change = 0; change < 300; change += 1) await insertMany(webhookId, tenant, 1);
  let isFolding = true;
  const readAll = async () => {
    const seen = new Set<number>();
    while (isFolding) seen.add(await totalOf(tenant, webhookId));
    return [...seen];
  };
  const foldAll = async () => {
    const fold = async (): Promise<number> => {
      const [row] = await worker.query<{ folded: number }[]>('select fold_list_counts(7) as folded');
      return row?.folded ?? 0;
    };
    while ((await Promise.all([fold(), fold()])).some((folded) => folded > 0));
    isFolding = false;
  };
  const [seen] = await Promise.all([readAll(), foldAll()]);
  expect(seen).toEqual([300]);
  const kept = await rowsOf(`select part, change_id, counted from list_counts where subject_id = $1 order by part`, [webhookId]);
  const [failed] = await rowsOf<{ count: string }>(
    `select count(*) from webhook_deliveries where webhook_id = $1 and status = 'failed'`,
    [webhookId],
  );
  expect(kept).toEqual([
    { part: 'delivered', change_id: '0', counted: String(300 - Number(failed?.count)) },
    { part: 'failed', change_id: '0', counted: failed?.count },
  ]);
});

test('deliveries that are deleted with their events are one change of an endpoint and status, as those that an endpoint fails with', async () => {
  const tenant = await fixture.newTenant();
  const { webhookId } = await fixture.endpoint(tenant);
  await insertMany(webhookId, tenant, 400);
  await fixture.database.transaction(async (manager) => {
    for (let count = 0; count < 50; count += 1)
      await manager.query(`select enqueue_webhook_event($1, 'wallet.active', $2, '{}')`, [tenant.clientId, newId()]);
  });
  await foldListCounts(worker);
  await fixture.database.transaction((manager) => failAllPending(manager, webhookId));
  const changes = () =>
    rowsOf(`select part, counted::int from list_counts where subject_id = $1 and change_id > 0 order by part`, [webhookId]);
  expect(await changes()).toEqual([
    { part: 'failed', counted: 50 },
    { part: 'pending', counted: -50 },
  ]);
  await foldListCounts(worker);
  await rowsOf(`update webhook_events set created_at = now() - interval '40 days' where client_id = $1`, [tenant.clientId]);
  await dispatcher().sweep();
  expect(await changes()).toEqual([
    { part: 'delivered', counted: -300 },
    { part: 'failed', counted: -150 },
  ]);
  await expectTotals(tenant, webhookId);
});

test('the migrations count what an installation has: deliveries, and assets that were added or hold a coin', async () => {
  const tenant = await fixture.newTenant();
  const { account, wallet } = await buildFunded(fixture, tenant);
  await fundAccount(fixture.database, await buildAccount(fixture.database, wallet, ethereum), ethereum, 'ETH', 1n);
  const base = registry.get('base');
  await fundAccount(fixture.database, account, base, 'USDC', 1n);
  const assets = async () => (await fixture.call('GET', '/assets', { tenant })).body;
  const before = await assets();
  const { webhookId } = await fixture.endpoint(tenant);
  await insertMany(webhookId, tenant, 37);
  const runner = fixture.database.createQueryRunner();
  try {
    await new AddedAssets0098().down(runner);
    await new ShownAssets0095().down(runner);
    await new ListCounts0094().down(runner);
    await insertMany(webhookId, tenant, 5);
    await new ListCounts0094().up(runner);
    await new ShownAssets0095().up(runner);
    await new AddedAssets0098().up(runner);
  } finally {
    await runner.release();
  }
  await insertMany(webhookId, tenant, 3);
  expect(await differences()).toEqual([]);
  expect(await totalOf(tenant, webhookId)).toBe(45);
  expect(before).toMatchObject({ total: 3 });
  expect(await assets()).toEqual(before);
  await fundAccount(fixture.database, account, base, 'ETH', 1n);
  expect(await assets()).toMatchObject({ total: 4 });
});
