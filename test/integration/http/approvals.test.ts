import { newId } from '../../../src/platform/ids';
import { buildTotp, randomAddress, totpCode } from '../../factories';
import { auditOf, setPolicy } from '../screening/factors';
import {
  type Answer,
  boxes,
  buildFunded,
  buildTenant,
  createFixture,
  expectProblem,
  type Fixture,
  type Funded,
  type Tenant,
} from './fixture';
import { buildColleague, freshCode } from './second-factor';

/** Transfers that wait for an approval: their list, and decisions about many of them with one code. */

let fixture: Fixture;
let tenant: Tenant;
let colleague: Tenant;
let funded: Funded;
beforeAll(async () => void (fixture = await createFixture({ poolSize: 20 })));
afterAll(() => fixture.close());
beforeEach(async () => {
  tenant = await buildTenant(fixture);
  colleague = await buildColleague(fixture, tenant);
  funded = await buildFunded(fixture, tenant);
  for (const user of [tenant, colleague]) await buildTotp(fixture.database, boxes.totp, user);
  await setPolicy(fixture.database, tenant, 'approve');
  await fixture.dispatch();
  fixture.workflows.started = [];
  fixture.workflows.signalled = { approved: [], ended: [] };
});

type Decision = { tx_id: string; decision: 'approve' | 'reject' };
const codeOf = (user: Tenant): Promise<string> => freshCode(fixture, user);
const transfer = async (changes: object = {}): Promise<string> => {
  const body = { from_address: funded.account.address, to_address: randomAddress(), chain: 'ethereum', token_symbol: 'USDC' };
  const answer = await fixture.call('POST', '/transfer', { tenant, body: { ...body, amount: '1', ...changes } });
  expect(answer.status).toBe(202);
  return String(answer.body['tx_id']);
};
const waiting = async (count: number): Promise<string[]> => {
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1) ids.push(await transfer());
  return ids;
};
const all = (txIds: string[], decision: Decision['decision']): Decision[] => txIds.map((tx_id) => ({ tx_id, decision }));
interface How {
  as?: Tenant;
  code?: string;
  key?: string;
}
const decide = async (decisions: unknown, { as = colleague, code, key }: How = {}): Promise<Answer> =>
  fixture.call('POST', '/approvals', {
    tenant: as,
    body: { decisions, mfa_code: code ?? (await codeOf(as)) },
    headers: key === undefined ? {} : { 'Idempotency-Key': key },
  });
const resultsOf = ({ status, body, text }: Answer): (string | null)[] => {
  expect({ status, text }).toEqual({ status: 200, text });
  const results = body['results'] as unknown as { status: string | null; error: { code: string } | null }[];
  return results.map((result) => result.error?.code ?? result.status);
};
const statusOf = async (txId: string) => (await fixture.call('GET', `/transactions/${txId}`, { tenant })).body['status'];
const statusesOf = (txIds: string[]) => Promise.all(txIds.map(statusOf));
const audited = async (action: string, txIds: string[]) =>
  (await Promise.all(txIds.map((txId) => auditOf(fixture.database, action, txId)))).map(({ length }) => length);
const locked = async () => {
  const [row] = await fixture.database.query<{ locked: string }[]>(
    `select locked from ledger_accounts where client_id = $1 and symbol = 'USDC'`,
    [tenant.clientId],
  );
  return row?.locked;
};
const list = async (query = '', as = tenant) => (await fixture.call('GET', `/approvals${query}`, { tenant: as })).body;

describe('GET /approvals', () => {
  test('has what waits, with its end and who requested it, and nothing else', async () => {
    const [first, second, decided] = (await waiting(3)) as [string, string, string];
    await decide(all([decided], 'approve'));
    await setPolicy(fixture.database, tenant, 'off');
    await transfer();
    const page = await list();
    expect(page).toMatchObject({ total: 2, has_more: false, next: null });
    expect(page.data.map((row) => row['tx_id'])).toEqual([second, first]);
    const details = (await fixture.call('GET', `/transactions/${first}`, { tenant })).body;
    expect(page.data[1]).toMatchObject({
      status: 'AWAITING_APPROVAL',
      amount: '1',
      to_address: details['to_address'],
      expires_at: (details['approval'] as unknown as { expires_at: string }).expires_at,
      requested_by: tenant.userId,
    });
    expect(await list('', fixture.other)).toMatchObject({ data: [], total: 0 });
  });

  test('has the filters and the cursor of transactions', async () => {
    const ids = await waiting(3);
    const [named, to] = [newId(), randomAddress()];
    const special = await transfer({ external_id: named, to_address: to });
    for (const query of [`external_id=${named}`, `to_address=${to}`, `page_size=1`])
      expect((await list(`?${query}`)).data.map((row) => row['tx_id'])).toEqual([special]);
    for (const query of ['chain=base', `wallet_id=${newId()}`, `account_id=${newId()}`, 'created_before=2020-01-01T00:00:00Z'])
      expect((await list(`?${query}`)).data).toEqual([]);
    const { next } = await list('?page_size=2');
    expect((await list(`?page_size=2&after=${String(next)}`)).data.map((row) => row['tx_id'])).toEqual([ids[1], ids[0]]);
    for (const query of ['status=PENDING', 'tx_hash=0x00', 'page=1001&page_size=100'])
      expect((await fixture.call('GET', `/approvals?${query}`, { tenant })).status).toBe(400);
  });
});

describe('POST /approvals', () => {
  test('approves and rejects with one code; each is audited, told to its workflow and, rejected, unlocked', async () => {
    const ids = await waiting(4);
    const [a, b, c, d] = ids as [string, string, string, string];
    await fixture.dispatch();
    const answer = await decide([...all([a, b], 'approve'), ...all([c, d], 'reject')]);
    expect(resultsOf(answer)).toEqual(['PENDING', 'PENDING', 'REJECTED', 'REJECTED']);
    expect((answer.body['results'] as unknown as Decision[]).map(({ tx_id }) => tx_id)).toEqual(ids);
    expect(await statusesOf(ids)).toEqual(['PENDING', 'PENDING', 'REJECTED', 'REJECTED']);
    expect(await audited('transfer.approved', ids)).toEqual([1, 1, 0, 0]);
    expect(await audited('transfer.rejected', ids)).toEqual([0, 0, 1, 1]);
    expect((await auditOf(fixture.database, 'transfer.rejected', c))[0]).toMatchObject({
      actor_type: 'user',
      actor_id: colleague.userId,
      client_id: tenant.clientId,
      request_id: answer.headers.get('x-request-id'),
    });
    expect((await fixture.call('GET', `/transactions/${c}`, { tenant })).body).toMatchObject({
      failure: { code: 'approval_rejected', message: expect.any(String) },
    });
    expect(await locked()).toBe('2000000');
    await fixture.dispatch();
    expect(fixture.workflows.signalled.approved.sort()).toEqual([a, b].sort());
    expect(fixture.workflows.signalled.ended.sort()).toEqual([c, d].sort());
  });

  test('one that is refused keeps no other from being decided, wherever it stands', async () => {
    const [a, expired, cancelled, b, broken, c] = (await waiting(6)) as [string, string, string, string, string, string];
    await setPolicy(fixture.database, tenant, 'off');
    const pending = await transfer();
    const { database } = fixture;
    await database.query(`update transactions set approval_expires_at = now() where tx_id = $1`, [expired]);
    await fixture.call('POST', `/transactions/${cancelled}/cancel`, { tenant });
    await database.query(
      `create function break_one() returns trigger language plpgsql as $$ begin raise exception 'broken'; end $$`,
    );
    await database.query(
      `create trigger break_one before update on transactions for each row when (new.tx_id = '${broken}') execute function break_one()`,
    );
    const asked = [newId(), a, 'nonsense', expired, b, cancelled, broken, pending, c];
    try {
      const answer = await decide(asked.map((tx_id) => ({ tx_id, decision: tx_id === b ? 'reject' : 'approve' })));
      expect(resultsOf(answer)).toEqual([
        ...['not_found', 'PENDING', 'not_found', 'not_awaiting_approval', 'REJECTED', 'not_awaiting_approval', 'internal_error'],
        ...['not_awaiting_approval', 'PENDING'],
      ]);
      expect(answer.text).not.toContain('broken');
    } finally {
      await database.query('drop function break_one cascade');
    }
    expect(await statusesOf([a, b, c, broken, expired])).toEqual([
      ...['PENDING', 'REJECTED', 'PENDING', 'AWAITING_APPROVAL', 'AWAITING_APPROVAL'],
    ]);
    expect(await audited('transfer.approved', [a, broken, expired, c])).toEqual([1, 0, 0, 1]);
    // nothing is left of the one that failed, and it can be decided later
    expect(
      await database.query(`select from workflow_outbox where kind = 'transfer_approved' and subject_id = $1`, [broken]),
    ).toEqual([]);
    expect(resultsOf(await decide(all([broken], 'approve')))).toEqual(['PENDING']);
  });

  test('who has requested a transfer may reject it, and approve it only if nobody else could', async () => {
    const [a, b] = (await waiting(2)) as [string, string];
    const answer = await decide([...all([a], 'approve'), ...all([b], 'reject')], { as: tenant });
    expect(resultsOf(answer)).toEqual(['approver_is_requester', 'REJECTED']);
    await fixture.database.query('delete from user_totp where user_id = $1', [colleague.userId]);
    expect(resultsOf(await decide(all([a], 'approve'), { as: tenant }))).toEqual(['PENDING']);
  });

  test('another client decides nothing', async () => {
    const ids = await waiting(2);
    const other = await buildTenant(fixture);
    const secret = await buildTotp(fixture.database, boxes.totp, other);
    const answer = await decide([...all(ids.slice(0, 1), 'approve'), ...all(ids.slice(1), 'reject')], {
      as: other,
      code: totpCode(secret),
    });
    expect(resultsOf(answer)).toEqual(['not_found', 'not_found']);
    expect(await statusesOf(ids)).toEqual(['AWAITING_APPROVAL', 'AWAITING_APPROVAL']);
  });

  test('a code decides once: again it is refused, for the same decisions and for others', async () => {
    const [a, b, c] = (await waiting(3)) as [string, string, string];
    const code = await codeOf(colleague);
    expect(resultsOf(await decide(all([a, b], 'reject'), { code }))).toEqual(['REJECTED', 'REJECTED']);
    expectProblem(await decide(all([a, b], 'reject'), { code }), 409, 'not_awaiting_approval');
    expectProblem(await decide(all([c], 'reject'), { code }), 400, 'MFA_INVALID');
    expectProblem(await decide(all([c], 'approve'), { code: await codeOf(tenant) }), 400, 'MFA_INVALID');
    expect(await statusOf(c)).toBe('AWAITING_APPROVAL');
    expect(await audited('transfer.rejected', [a, b, c])).toEqual([1, 1, 0]);
    // a code that every decision was refused with is used up too
    const used = await codeOf(colleague);
    expect(resultsOf(await decide(all([newId()], 'approve'), { code: used }))).toEqual(['not_found']);
    expectProblem(await decide(all([c], 'approve'), { code: used }), 400, 'MFA_INVALID');
  });

  test('the same decision again is no error and has no effect; the opposite one is refused', async () => {
    const [a, b] = (await waiting(2)) as [string, string];
    const decisions = [...all([a], 'approve'), ...all([b], 'reject')];
    await fixture.dispatch();
    expect(resultsOf(await decide(decisions))).toEqual(['PENDING', 'REJECTED']);
    await fixture.dispatch();
    expect(resultsOf(await decide(decisions))).toEqual(['PENDING', 'REJECTED']);
    expect(resultsOf(await decide([...all([a], 'reject'), ...all([b], 'approve')]))).toEqual([
      'not_awaiting_approval',
      'not_awaiting_approval',
    ]);
    expect([await audited('transfer.approved', [a, b]), await audited('transfer.rejected', [a, b])]).toEqual([
      [1, 0],
      [0, 1],
    ]);
    await fixture.dispatch();
    expect([fixture.workflows.signalled.approved, fixture.workflows.signalled.ended]).toEqual([[a], [b]]);
  });

  test('a key gives the first answer again', async () => {
    const ids = await waiting(2);
    const [key, code] = [newId(), await codeOf(colleague)];
    const decisions = [...all(ids, 'approve'), ...all([newId()], 'approve')];
    const first = await decide(decisions, { code, key });
    expect(resultsOf(first)).toEqual(['PENDING', 'PENDING', 'not_found']);
    const again = await decide(decisions, { code, key });
    expect([again.status, again.text, again.headers.get('idempotency-replayed')]).toEqual([200, first.text, 'true']);
    expect(again.headers.get('location')).toBeNull();
    expectProblem(await decide(all(ids, 'reject'), { code, key }), 422, 'idempotency_key_reused');
    expect(await audited('transfer.approved', ids)).toEqual([1, 1]);
  });

  test('decisions, the use of the code and the stored answer are there together or not at all', async () => {
    const ids = await waiting(2);
    const [key, code] = [newId(), await codeOf(colleague)];
    const { database } = fixture;
    await database.query(
      `create function no_answer() returns trigger language plpgsql as $$ begin raise exception 'no answer'; end $$`,
    );
    await database.query(
      `create trigger no_answer before update on idempotency_keys for each row when (new.response_status = 200) execute function no_answer()`,
    );
    try {
      expectProblem(await decide(all(ids, 'approve'), { code, key }), 500, 'internal_error');
    } finally {
      await database.query('drop function no_answer cascade');
    }
    expect(await statusesOf(ids)).toEqual(['AWAITING_APPROVAL', 'AWAITING_APPROVAL']);
    expect(resultsOf(await decide(all(ids, 'approve'), { code, key }))).toEqual(['PENDING', 'PENDING']);
    expect(await audited('transfer.approved', ids)).toEqual([1, 1]);
  });

  test('a transfer that stays locked: 503, nothing is decided, and the same code and key are good afterwards', async () => {
    const ids = await waiting(2);
    const [key, code] = [newId(), await codeOf(colleague)];
    await fixture.database.transaction(async (manager) => {
      await manager.query('select from transactions where tx_id = $1 for update', [ids[1]]);
      expectProblem(await decide(all(ids, 'reject'), { code, key }), 503, 'unavailable');
    });
    expect(await statusesOf(ids)).toEqual(['AWAITING_APPROVAL', 'AWAITING_APPROVAL']);
    expect(resultsOf(await decide(all(ids, 'reject'), { code, key }))).toEqual(['REJECTED', 'REJECTED']);
  });

  test('what concerns more than one of them while it is decided: 503, nothing is decided', async () => {
    const ids = await waiting(2);
    const [key, code] = [newId(), await codeOf(colleague)];
    const { database } = fixture;
    await database.query(
      `create function hold_one() returns trigger language plpgsql as $$ begin raise exception 'locked' using errcode = '55P03'; end $$`,
    );
    await database.query(
      `create trigger hold_one before update on transactions for each row when (new.tx_id = '${ids[1]}') execute function hold_one()`,
    );
    try {
      expectProblem(await decide(all(ids, 'approve'), { code, key }), 503, 'unavailable');
    } finally {
      await database.query('drop function hold_one cascade');
    }
    expect(await statusesOf(ids)).toEqual(['AWAITING_APPROVAL', 'AWAITING_APPROVAL']);
    expect(resultsOf(await decide(all(ids, 'approve'), { code, key }))).toEqual(['PENDING', 'PENDING']);
  });

  test('two users with the same transfers at once, in opposite order: each is decided once', async () => {
    await fixture.database.query('update clients set self_approval = true where client_id = $1', [tenant.clientId]);
    const ids = await waiting(12);
    const [one, two] = await Promise.all([
      decide(all(ids, 'approve'), { as: tenant }),
      decide(all([...ids].reverse(), 'reject'), { as: colleague }),
    ]);
    const [approved, rejected] = [resultsOf(one), resultsOf(two).reverse()];
    for (const index of ids.keys())
      expect([approved[index], rejected[index]].sort()).toEqual(
        approved[index] === 'PENDING' ? ['PENDING', 'not_awaiting_approval'] : ['REJECTED', 'not_awaiting_approval'],
      );
    const counts = [await audited('transfer.approved', ids), await audited('transfer.rejected', ids)] as const;
    for (const index of ids.keys()) expect((counts[0][index] ?? 0) + (counts[1][index] ?? 0)).toBe(1);
    const left = approved.filter((each) => each === 'PENDING').length;
    expect(await locked()).toBe(String(left * 1_000_000));
  });

  test('ten requests at once with one code: one is carried out', async () => {
    const ids = await waiting(3);
    const code = await codeOf(colleague);
    const answers = await Promise.all(Array.from({ length: 10 }, () => decide(all(ids, 'reject'), { code })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 9 }, () => 409)]);
    expect(await audited('transfer.rejected', ids)).toEqual([1, 1, 1]);
    expect(await locked()).toBe('0');
  });

  test('a hundred at once', async () => {
    const ids = await waiting(100);
    expect(new Set(resultsOf(await decide([...all(ids.slice(0, 50), 'approve'), ...all(ids.slice(50), 'reject')])))).toEqual(
      new Set(['PENDING', 'REJECTED']),
    );
    expect(await locked()).toBe('50000000');
    expect(await list()).toMatchObject({ total: 0 });
  }, 60_000);

  test.each<[string, unknown, string]>([
    ['no decisions', undefined, 'decisions'],
    ['an empty list', [], 'decisions'],
    ['101 decisions', Array.from({ length: 101 }, () => ({ tx_id: newId(), decision: 'approve' })), 'decisions'],
    ['an unknown decision', [{ tx_id: newId(), decision: 'maybe' }], 'decisions.0.decision'],
    ['no id', [{ decision: 'approve' }], 'decisions.0.tx_id'],
    ['an unknown field', [{ tx_id: newId(), decision: 'approve', why: 'x' }], 'decisions.0.why'],
    ['a transfer twice', ['approve', 'reject'].map((decision) => ({ tx_id: 'a', decision })), 'decisions.1'],
  ])('refuses %s', async (_, decisions, field) => {
    expectProblem(await decide(decisions), 400, 'invalid_parameter', field);
  });

  test('without a code, and without a second factor', async () => {
    const body = { decisions: all(await waiting(1), 'reject') };
    expectProblem(await fixture.call('POST', '/approvals', { tenant, body }), 400, 'MFA_REQUIRED');
    await fixture.database.query('delete from user_totp where user_id = $1', [tenant.userId]);
    expectProblem(await decide(body.decisions, { as: tenant, code: '123456' }), 400, 'MFA_NOT_ENABLED');
  });
});

describe('the database', () => {
  const record = (txId: string, code: string, kind = 'rule', attempt = 1) =>
    [
      `insert into refusals (tx_id, attempt, kind, code, reason) values ($1, $2, $3, $4, 'r')`,
      [txId, attempt, kind, code],
    ] as const;
  const denied = { driverError: { code: '42501' } };

  test('lets the API record nothing but the rejection of a transfer that waits', async () => {
    const [txId] = (await waiting(1)) as [string];
    await setPolicy(fixture.database, tenant, 'off');
    const pending = await transfer();
    const { apiDatabase } = fixture;
    for (const [text, values] of [
      record(txId, 'approval_expired'),
      record(txId, 'approval_rejected', 'chain'),
      record(txId, 'approval_rejected', 'rule', 2),
      record(pending, 'approval_rejected'),
    ])
      await expect(apiDatabase.query(text, [...values])).rejects.toMatchObject(denied);
    const end = (id: string) =>
      apiDatabase.query(
        `update transactions set status = 'REJECTED', version = version + 1, failure_code = 'approval_rejected', failure_message = 'r' where tx_id = $1`,
        [id],
      );
    await expect(end(txId)).rejects.toMatchObject(denied);
    await expect(end(pending)).rejects.toMatchObject(denied);
  });

  test('lets no other process record one', async () => {
    const [txId] = (await waiting(1)) as [string];
    for (const role of ['gateway_worker', 'gateway_authoriser']) {
      const [text, values] = record(txId, 'approval_rejected');
      await expect(asRole(role, text, [...values])).rejects.toMatchObject({ code: '42501' });
    }
  });
});

async function asRole(role: string, text: string, values: unknown[]): Promise<void> {
  const { Client } = await import('pg');
  const logins = (await fixture.logins()) as Record<string, string>;
  const client = new Client({ connectionString: logins[role] });
  await client.connect();
  try {
    await client.query(text, values);
  } finally {
    await client.end();
  }
}
