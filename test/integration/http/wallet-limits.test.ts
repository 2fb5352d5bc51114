import { setTimeout as delay } from 'node:timers/promises';
import { newId } from '../../../src/platform/ids';
import { activateWallet } from '../../../src/wallets/activate-wallet';
import { restartLostGenerations } from '../../../src/wallets/lost-generations';
import { buildKey } from '../../factories';
import { type Answer, buildTenant, createFixture, expectProblem, type Fixture, type Tenant } from './fixture';

const fixtures: Fixture[] = [];
const start = async (options: Parameters<typeof createFixture>[0]): Promise<Fixture> => {
  const fixture = await createFixture(options);
  fixtures.push(fixture);
  return fixture;
};
afterAll(async () => {
  for (const fixture of fixtures.reverse()) await fixture.close();
});

const create = (fixture: Fixture, tenant: Tenant, headers: Record<string, string> = {}) =>
  fixture.call('POST', '/wallets', { tenant, headers, body: { wallet_name: 'one of many' } });
const createMany = (fixture: Fixture, tenant: Tenant, count: number) =>
  Promise.all(Array.from({ length: count }, () => create(fixture, tenant)));
const idOf = ({ body }: Answer) => String(body['wallet_id']);
const statuses = (answers: Answer[]) => answers.map(({ status }) => status).sort();
/** What the workflow does at its end. */
const finish = ({ database }: Fixture, walletId: string) =>
  buildKey(database, walletId).then((key) => activateWallet(database, key));
/** A round of the dispatcher, after the time in which no wallet is tried. */
const dispatch = async (fixture: Fixture) => {
  await delay(250);
  await fixture.dispatch();
};

describe('key generations', () => {
  test('with 85 waiting wallets of one client, another’s wallet is among the next two to begin', async () => {
    const fixture = await start({ generationLimits: { maxInFlight: 3 } });
    const { demo, other, workflows } = fixture;
    const many = (await createMany(fixture, demo, 85)).map(idOf);
    await dispatch(fixture);
    const running = () => [...new Set(workflows.keys)];
    expect(running()).toHaveLength(3);

    const wallet = idOf(await create(fixture, other));
    await dispatch(fixture);
    expect(running()).not.toContain(wallet);
    for (const ended of running().slice(0, 2)) await finish(fixture, ended);
    await dispatch(fixture);
    expect(running()).toHaveLength(5);
    expect(running().slice(3)).toContain(wallet);

    // no other client waits: the 85 continue, one for each generation that ends
    await finish(fixture, wallet);
    await dispatch(fixture);
    expect(running()).toHaveLength(6);
    expect(many).toContain(running()[5]);
  });

  test('clients take turns, in whatever order they created their wallets', async () => {
    const fixture = await start({ generationLimits: { maxInFlight: 1 } });
    const { demo, other, workflows } = fixture;
    const [a1 = '', a2 = '', a3 = ''] = await inOrder(fixture, demo, 3);
    const [b1 = '', b2 = ''] = await inOrder(fixture, other, 2);
    // a1 began before another wallet waited
    for (const wallet of [a1, a2, b1, a3, b2]) {
      await dispatch(fixture);
      expect([...new Set(workflows.keys)].at(-1)).toBe(wallet);
      await finish(fixture, wallet);
    }
  });

  test('a wallet whose start has just failed does not delay the others', async () => {
    const fixture = await start({ generationLimits: { maxInFlight: 1 } });
    const { demo, other, workflows } = fixture;
    workflows.away = true;
    await create(fixture, demo);
    const second = idOf(await create(fixture, other));
    await fixture.resources.outbox.settled();
    workflows.away = false;
    await fixture.database.query(
      `update workflow_outbox set created_at = clock_timestamp() - interval '1 minute',
              deliver_after = clock_timestamp() + case client_id when $1 then interval '5 seconds' else interval '-1 second' end`,
      [demo.clientId],
    );
    await fixture.dispatchDue();
    expect(workflows.keys).toEqual([second]);
  });

  test('one whose workflow was lost begins again; those that wait or have their key do not', async () => {
    const fixture = await start({ generationLimits: { maxInFlight: 2 } });
    const { demo, workflows, database } = fixture;
    const [lost = '', finished = ''] = await inOrder(fixture, demo, 2);
    await dispatch(fixture);
    await finish(fixture, finished);
    workflows.keys.length = 0;
    const restart = () => restartLostGenerations(database, workflows.keyGeneration);

    await restart();
    expect(workflows.keys).toEqual([]);
    await database.query(`update wallets set created_at = clock_timestamp() - interval '6 minutes'`);
    workflows.away = true;
    await inOrder(fixture, demo, 1);
    await fixture.resources.outbox.settled();
    workflows.away = false;
    await restart();
    expect(workflows.keys).toEqual([lost]);
  });

  const inOrder = async (fixture: Fixture, tenant: Tenant, count: number) => {
    const ids: string[] = [];
    for (let n = 0; n < count; n += 1) ids.push(idOf(await create(fixture, tenant)));
    return ids;
  };
});

describe('wallets that wait for their key', () => {
  test('are limited per client, also for requests at the same moment; a finished one makes room', async () => {
    const fixture = await start({ generationLimits: { maxPendingPerClient: 4 } });
    const tenant = await buildTenant(fixture);
    const answers = await createMany(fixture, tenant, 10);
    expect(statuses(answers)).toEqual([...Array<number>(4).fill(201), ...Array<number>(6).fill(503)]);
    const refused = await create(fixture, tenant);
    expectProblem(refused, 503, 'unavailable');
    expect(refused.headers.get('retry-after')).toBe('30');
    expect((await create(fixture, fixture.other)).status).toBe(201);
    await finish(fixture, idOf(answers.find(({ status }) => status === 201) as Answer));
    expect((await create(fixture, tenant)).status).toBe(201);
  });

  test('are limited in total', async () => {
    const fixture = await start({ generationLimits: { maxPending: 3 } });
    expect(statuses(await createMany(fixture, fixture.demo, 3))).toEqual([201, 201, 201]);
    expectProblem(await create(fixture, fixture.other), 503, 'unavailable');
  });

  test('a repeated request gets its wallet although there is no room; a refused one can be repeated later', async () => {
    const fixture = await start({ generationLimits: { maxPending: 1 } });
    const [first, second] = [{ 'Idempotency-Key': newId() }, { 'Idempotency-Key': newId() }];
    const created = await create(fixture, fixture.demo, first);
    expectProblem(await create(fixture, fixture.demo, second), 503, 'unavailable');
    expect(idOf(await create(fixture, fixture.demo, first))).toBe(idOf(created));
    await finish(fixture, idOf(created));
    expect((await create(fixture, fixture.demo, second)).status).toBe(201);
  });
});
