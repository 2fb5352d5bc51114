import { newId } from '../../../src/platform/ids';
import type { StartLimitSettings } from '../../../src/transfers/start/start-limits';
import { randomAddress } from '../../factories';
import { listAddress, setPolicy } from '../screening/factors';
import { type Answer, type Fixture, buildFunded, buildTenant, createFixture, expectProblem, type Tenant } from './fixture';

/** POST /transfer as one database transaction: under load, with rows that are locked, and with the workflow service away. */

const open: Fixture[] = [];
const start = async (options: Parameters<typeof createFixture>[0] = {}) => {
  const fixture = await createFixture(options);
  open.push(fixture);
  return fixture;
};
afterAll(() => Promise.all(open.map((fixture) => fixture.close())));

interface Sender {
  fixture: Fixture;
  tenant: Tenant;
  send: (changes?: object, key?: string) => Promise<Answer>;
  locked: () => Promise<bigint>;
  accountId: string;
}

async function sender(fixture: Fixture): Promise<Sender> {
  const tenant = await buildTenant(fixture);
  const { account } = await buildFunded(fixture, tenant);
  const from = { from_address: account.address, chain: 'ethereum', token_symbol: 'USDC', amount: '1' };
  return {
    fixture,
    tenant,
    accountId: account.accountId,
    send: (changes = {}, key) =>
      fixture.call('POST', '/transfer', {
        tenant,
        body: { ...from, to_address: randomAddress(), ...changes },
        ...(key !== undefined && { headers: { 'Idempotency-Key': key } }),
      }),
    locked: async () => {
      const [row] = await fixture.database.query<{ locked: string }[]>(
        `select locked from ledger_accounts where account_id = $1 and symbol = 'USDC'`,
        [account.accountId],
      );
      return BigInt(row?.locked ?? -1);
    },
  };
}

const many = <T>(count: number, run: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, index) => run(index)));
const countBy = (answers: Answer[]) => {
  const counts: Record<string, number> = {};
  for (const { status, body } of answers) {
    const name = `${status} ${String(body['code'] ?? '')}`.trim();
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
};
const keyRow = async (fixture: Fixture, key: string) => {
  const [row] = await fixture.database.query<{ response_status: number | null; resource_id: string }[]>(
    'select response_status, resource_id from idempotency_keys where key = $1',
    [key],
  );
  return row;
};

describe('with a pool of two connections', () => {
  let one: Sender;
  beforeAll(async () => {
    one = await sender(await start({ poolSize: 2 }));
  });

  test('20 concurrent requests are all accepted: none takes a second connection while it has one', async () => {
    const answers = await many(20, () => one.send({}, newId()));
    expect(countBy(answers)).toEqual({ '202': 20 });
    expect(await one.locked()).toBe(20_000_000n);
  });

  test('20 requests at once with one key make one transfer and get equal answers', async () => {
    const [key, to_address] = [newId(), randomAddress()];
    const answers = await many(20, () => one.send({ to_address }, key));
    expect(countBy(answers)).toEqual({ '202': 20 });
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(await one.locked()).toBe(21_000_000n);
  });

  test('50 requests at once with funds for 20: 20 accepted, 30 refused and nothing lost', async () => {
    const other = await sender(one.fixture);
    const keys = Array.from({ length: 50 }, newId);
    const body = { amount: '50', to_address: randomAddress() };
    const answers = await many(50, (index) => other.send(body, keys[index]));
    expect(countBy(answers)).toEqual({ '202': 20, '400 insufficient_balance': 30 });
    expect(await other.locked()).toBe(1_000_000_000n);
    // every answer was stored together with its transfer
    const again = await many(50, (index) => other.send(body, keys[index]));
    expect(again.map(({ text }) => text)).toEqual(answers.map(({ text }) => text));
  });
});

describe('rows that another transaction has locked', () => {
  test('503 after two seconds, nothing stored; the same key is good for the next try', async () => {
    const { fixture, send, locked, accountId } = await sender(await start());
    const holder = fixture.database.createQueryRunner();
    await holder.startTransaction();
    await holder.query('select 1 from ledger_accounts where account_id = $1 for update', [accountId]);
    const [key, body] = [newId(), { to_address: randomAddress() }];
    const begun = Date.now();
    const answer = await send(body, key);
    expectProblem(answer, 503, 'unavailable');
    expect(answer.headers.get('retry-after')).toBe('1');
    expect(Date.now() - begun).toBeGreaterThanOrEqual(1_900);
    // not only at the end of the 15 s that its transaction has
    expect(Date.now() - begun).toBeLessThan(15_000);
    await holder.rollbackTransaction();
    await holder.release();
    const row = await keyRow(fixture, key);
    expect(row?.response_status).toBeNull();
    expect(await locked()).toBe(0n);
    expect((await send(body, key)).body).toMatchObject({ tx_id: row?.resource_id, status: 'PENDING' });
  });
});

describe('the stored answer', () => {
  let one: Sender;
  let key: string;
  beforeAll(async () => {
    one = await sender(await start());
    await one.fixture.database.query(
      `create function refuse() returns trigger language plpgsql as 'begin raise exception ''no''; end'`,
    );
  });
  beforeEach(() => {
    key = newId();
  });
  const unstorable = async (work: () => Promise<void>) => {
    const { database } = one.fixture;
    await database.query(`create trigger refuse before update on idempotency_keys for each row
      when (new.response_status is not null) execute function refuse()`);
    await work().finally(() => database.query('drop trigger refuse on idempotency_keys'));
  };

  test('commits with the transfer: both are stored or neither', async () => {
    await unstorable(async () => expectProblem(await one.send({}, key), 500, 'internal_error'));
    expect(await one.locked()).toBe(0n);
    const { data } = (await one.fixture.call('GET', '/transactions', { tenant: one.tenant })).body;
    expect(data.filter((tx) => tx['transaction_type'] === 'OUTBOUND')).toEqual([]);
  });

  const expectRefused = ({ status, body }: Answer) => expect([status, body['code']]).toEqual([403, 'address_blacklisted']);

  test('commits with the audit row of a refusal', async () => {
    const to_address = randomAddress();
    await listAddress(one.fixture.database, one.tenant, to_address);
    const audits = async () =>
      (await one.fixture.database.query<unknown[]>(`select 1 from audit_events where subject_id = $1`, [to_address])).length;
    await unstorable(async () => expectProblem(await one.send({ to_address }, key), 500, 'internal_error'));
    expect(await audits()).toBe(0);
    for (let i = 0; i < 2; i += 1) expectRefused(await one.send({ to_address }, key));
    expect(await audits()).toBe(1);
    expect((await keyRow(one.fixture, key))?.response_status).toBe(403);
  });

  test('is not written by a run whose key another run has taken over: it commits nothing', async () => {
    const { fixture, send, locked } = one;
    const before = await locked();
    await fixture.database.query(`create function lose() returns trigger language plpgsql as
      'begin update idempotency_keys set leased_until = leased_until + interval ''1 s'' where key = new.idempotency_key; return new; end'`);
    await fixture.database.query('create trigger lose after insert on transactions for each row execute function lose()');
    const answer = await send({}, key);
    await fixture.database.query('drop trigger lose on transactions');
    expectProblem(answer, 409, 'idempotency_in_progress');
    expect(await locked()).toBe(before);
    expect((await keyRow(fixture, key))?.response_status ?? null).toBeNull();
  });
});

test('policy approve: AWAITING_APPROVAL from the beginning, with its deadline; the answer is PENDING', async () => {
  const { fixture, tenant, send } = await sender(await start());
  await setPolicy(fixture.database, tenant, 'approve');
  const key = newId();
  const to_address = randomAddress();
  const { status, body } = await send({ to_address }, key);
  expect([status, body['status']]).toEqual([202, 'PENDING']);
  const details = await fixture.call('GET', `/transactions/${String(body['tx_id'])}`, { tenant });
  expect(details.body).toMatchObject({
    status: 'AWAITING_APPROVAL',
    approval: { approved_at: null, expires_at: expect.stringMatching(/Z$/) },
    timeline: [{ status: 'PENDING' }, { status: 'AWAITING_APPROVAL' }],
  });
  expect((await send({ to_address }, key)).body).toEqual(body);
});

describe('the workflow service', () => {
  test('is down: accepted, and started once when it is back', async () => {
    const { fixture, send } = await sender(await start());
    fixture.workflows.away = true;
    const txId = String((await send()).body['tx_id']);
    await fixture.dispatch();
    fixture.workflows.away = false;
    for (let i = 0; i < 2; i += 1) await fixture.dispatch();
    expect(fixture.workflows.started).toEqual([txId]);
  });

  test('hangs: the answer does not wait for it', async () => {
    const { fixture, send } = await sender(await start());
    let release = () => {};
    const hung = new Promise<'started'>((resolve) => (release = () => resolve('started')));
    jest.spyOn(fixture.workflows, 'start').mockImplementation(() => hung);
    const begun = Date.now();
    expect((await send()).status).toBe(202);
    expect(Date.now() - begun).toBeLessThan(10_000);
    release();
  });
});

describe('bounds', () => {
  const bounded = async (startLimits: Partial<StartLimitSettings>) => {
    const fixture = await start({ startLimits });
    fixture.workflows.away = true;
    return { fixture, one: await sender(fixture), other: await sender(fixture) };
  };
  /** Counts are kept for a second. */
  const counted = () => new Promise((resolve) => setTimeout(resolve, 1_100));

  test('transfers that wait for their start, of one client: 503, nothing stored, and replays are answered', async () => {
    const { fixture, one, other } = await bounded({ maxPendingPerClient: 2 });
    const [first, key] = [newId(), newId()];
    const body = { to_address: randomAddress() };
    const accepted = await one.send(body, first);
    await one.send();
    await counted();
    const refused = await one.send(body, key);
    expectProblem(refused, 503, 'unavailable');
    expect(refused.headers.get('retry-after')).toBe('5');
    expect((await keyRow(fixture, key))?.response_status).toBeNull();
    await fixture.database.query('update idempotency_keys set response_status = null, leased_until = now() where key = $1', [
      first,
    ]);
    expect((await one.send(body, first)).body).toEqual(accepted.body);
    expect((await other.send()).status).toBe(202);
    fixture.workflows.away = false;
    await fixture.dispatch();
    await counted();
    expect((await one.send(body, key)).status).toBe(202);
  });

  test('in total: every client gets 503', async () => {
    const { one, other } = await bounded({ maxPending: 2 });
    await many(2, () => one.send());
    await counted();
    expectProblem(await other.send(), 503, 'unavailable');
  });

  test('transfers in flight: the rest is accepted, and started oldest first as room comes', async () => {
    const { fixture, one } = await bounded({ maxInFlight: 2 });
    const txIds: string[] = [];
    for (let i = 0; i < 5; i += 1) txIds.push(String((await one.send()).body['tx_id']));
    await fixture.resources.outbox.settled();
    fixture.workflows.away = false;
    await fixture.dispatch();
    expect([...fixture.workflows.started].sort()).toEqual(txIds.slice(0, 2));
    await counted();
    await fixture.dispatch();
    expect(fixture.workflows.started).toHaveLength(2);
    await many(2, (index) => fixture.call('POST', `/transactions/${String(txIds[index])}/cancel`, { tenant: one.tenant }));
    await counted();
    await fixture.dispatch();
    expect([...fixture.workflows.started].sort()).toEqual(txIds.slice(0, 4));
  });
});
