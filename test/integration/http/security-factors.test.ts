import { toLimitSettings, limitVariables } from '../../../src/http/limits/settings';
import { readConfig } from '../../../src/platform/config';
import { newId } from '../../../src/platform/ids';
import { randomAddress } from '../../factories';
import { type Answer, type Fixture, buildTenant, createFixture, expectProblem, type Tenant } from './fixture';
import { buildColleague, freshCode } from './second-factor';

const mounts = ['/client/security-factors', '/v1/client/security-factors'] as const;
/** That of the tests below. */
let path: string = mounts[0];
const at = (mount: string) => {
  beforeAll(() => void (path = mount));
  afterAll(() => void (path = mounts[0]));
};
let fixture: Fixture;
let tenant: Tenant;
/** The same with the limits that a deployment has by default. */
let limited: Fixture;
beforeAll(async () => {
  fixture = await createFixture();
  limited = await createFixture({ shared: fixture, limits: toLimitSettings(readConfig(limitVariables, {})) });
});
afterAll(async () => {
  await limited.close();
  await fixture.close();
});
beforeEach(async () => void (tenant = await buildTenant(fixture)));

type Body = { address: string; mfa_code?: string } & Record<string, unknown>;
const factorBody = (changes: object = {}): Body => ({
  factor_type: 'BLACKLIST',
  chain: 'ethereum',
  address: randomAddress(),
  ...changes,
});
/** Adds a new code where the body has none. */
const post = async (body: Body, as = tenant) => {
  const mfa_code = body.mfa_code ?? (await freshCode(fixture, as));
  return fixture.call('POST', path, { tenant: as, body: { ...body, mfa_code } });
};
const setStatus = async (id: string, status: string) =>
  fixture.call('PUT', `${path}/${id}/status`, { tenant, body: { status, mfa_code: await freshCode(fixture, tenant) } });
const remove = async (id: string) =>
  fixture.call('DELETE', `${path}/${id}`, { tenant, body: { mfa_code: await freshCode(fixture, tenant) } });
const list = async (query = '', as = tenant) => (await fixture.call('GET', `${path}${query}`, { tenant: as })).body;
const idOf = ({ body }: Answer): string => String(body['factor_id']);
const added = async (body = factorBody()): Promise<string> => {
  const answer = await post(body);
  expect({ status: answer.status, text: answer.text }).toEqual({ status: 201, text: answer.text });
  return idOf(answer);
};
const audited = () =>
  fixture.database.query<{ action: string; subject_id: string; request_id: string; actor_id: string; detail: object }[]>(
    `select action, subject_id, request_id, actor_id, detail from audit_events where client_id = $1 and action not like 'auth.%' order by audit_id`,
    [tenant.clientId],
  );
const activatedAt = async (id: string) =>
  (
    await fixture.database.query<{ activated_at: Date }[]>('select activated_at from security_factors where factor_id = $1', [id])
  )[0]?.activated_at as Date;

describe('states', () => {
  test('none → active: the entry is returned, with Location and an audit row', async () => {
    const body = factorBody({ factor_type: 'WHITELIST', label: 'cold', reason: 'ours' });
    const answer = await post(body);
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      ...body,
      factor_id: expect.any(String),
      status: 'active',
      added_by: tenant.userId,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    expect(answer.headers.get('location')).toBe(`/api/v1${path}/${idOf(answer)}`);
    expect((await fixture.call('GET', `${path}/${idOf(answer)}`, { tenant })).body).toEqual(answer.body);
    expect(await list()).toEqual({ items: [answer.body], total: 1 });
    expect(await audited()).toEqual([
      {
        action: 'security_factor.created',
        subject_id: idOf(answer),
        request_id: answer.headers.get('x-request-id'),
        actor_id: tenant.userId,
        detail: { factor_type: 'WHITELIST', chain: 'ethereum', address: body.address },
      },
    ]);
  });

  test('omitted texts are empty', async () => {
    expect((await post(factorBody())).body).toMatchObject({ label: '', reason: '' });
    expect((await post(factorBody({ label: null, reason: '' }))).body).toMatchObject({ label: '', reason: '' });
  });

  test('active → inactive → active: the updated entry is returned, with a new activation time', async () => {
    const id = await added();
    const before = await activatedAt(id);
    const inactive = await setStatus(id, 'inactive');
    expect([inactive.status, inactive.body['status']]).toEqual([200, 'inactive']);
    expect(await activatedAt(id)).toEqual(before);
    const active = await setStatus(id, 'active');
    expect([active.status, active.body['status']]).toEqual([200, 'active']);
    expect(active.body).toEqual({ ...inactive.body, status: 'active' });
    expect((await activatedAt(id)).getTime()).toBeGreaterThan(before.getTime());
    expect((await audited()).map(({ action }) => action)).toEqual([
      'security_factor.created',
      'security_factor.deactivated',
      'security_factor.activated',
    ]);
  });

  test('setting the current status has no effect', async () => {
    const id = await added();
    const before = await activatedAt(id);
    const answer = await setStatus(id, 'active');
    expect([answer.status, answer.body['status']]).toEqual([200, 'active']);
    expect(await activatedAt(id)).toEqual(before);
    expect(await audited()).toHaveLength(1);
  });

  test.each(['active', 'inactive'])(
    '%s → deleted: gone from every answer, and the address can be added again',
    async (status) => {
      const body = factorBody();
      const id = await added(body);
      if (status === 'inactive') await setStatus(id, 'inactive');
      const answer = await remove(id);
      expect([answer.status, answer.body]).toEqual([200, { factor_id: id, status: 'deleted' }]);
      expect(await list()).toEqual({ items: [], total: 0 });
      expectProblem(await fixture.call('GET', `${path}/${id}`, { tenant }), 404, 'SECURITY_FACTOR_NOT_FOUND');
      for (const again of [await remove(id), await setStatus(id, 'active')])
        expectProblem(again, 404, 'SECURITY_FACTOR_NOT_FOUND');
      expect(await added(body)).not.toBe(id);
      expect((await audited()).map(({ action }) => action).slice(-2)).toEqual([
        'security_factor.deleted',
        'security_factor.created',
      ]);
    },
  );

  test('an address with an inactive entry can be added; activating that entry is then 409', async () => {
    const body = factorBody();
    const twin = await added(body);
    await setStatus(twin, 'inactive');
    const id = await added(body);
    expectProblem(await setStatus(twin, 'active'), 409, 'SECURITY_FACTOR_ALREADY_EXISTS');
    expect(await list('?status=inactive')).toMatchObject({ items: [{ factor_id: twin, status: 'inactive' }] });
    await remove(id);
    expect((await setStatus(twin, 'active')).status).toBe(200);
  });

  test('another type or chain makes another entry; other fields do not', async () => {
    const body = factorBody();
    await added(body);
    await added(factorBody({ address: body.address, factor_type: 'WHITELIST' }));
    await added(factorBody({ address: body.address, chain: 'base' }));
    expectProblem(
      await post(factorBody({ address: body.address, label: 'other', reason: 'other' })),
      409,
      'SECURITY_FACTOR_ALREADY_EXISTS',
    );
    expect(await audited()).toHaveLength(3);
  });
});

describe.each(mounts)('second factor at %s', (mount) => {
  at(mount);

  const acts: [string, (id: string, body: object) => Promise<Answer>][] = [
    ['POST', (_, body) => fixture.call('POST', path, { tenant, body: { ...factorBody(), ...body } })],
    ['PUT status', (id, body) => fixture.call('PUT', `${path}/${id}/status`, { tenant, body: { status: 'inactive', ...body } })],
    ['DELETE', (id, body) => fixture.call('DELETE', `${path}/${id}`, { tenant, body })],
  ];

  test.each(acts)('%s: MFA_NOT_ENABLED, MFA_REQUIRED, MFA_INVALID, and nothing has changed', async (_, act) => {
    const id = await added();
    await fixture.database.query('delete from user_totp where user_id = $1', [tenant.userId]);
    for (const body of [{}, { mfa_code: '123456' }]) expectProblem(await act(id, body), 400, 'MFA_NOT_ENABLED');
    const code = await freshCode(fixture, tenant);
    expectProblem(await act(id, {}), 400, 'MFA_REQUIRED');
    expectProblem(await act(id, { mfa_code: code === '000000' ? '111111' : '000000' }), 400, 'MFA_INVALID');
    for (const mfa_code of ['12345', '1234567', '12a456', '１２３４５６', '', 123456, null])
      expectProblem(await act(id, { mfa_code }), 400, 'invalid_parameter', 'mfa_code');
    expect(await list()).toMatchObject({ items: [{ factor_id: id, status: 'active' }], total: 1 });
  });

  test.each(acts.slice(1))('%s: an entry that does not exist is named only after the code is right', async (_, act) => {
    const code = await freshCode(fixture, tenant);
    expectProblem(await act(newId(), {}), 400, 'MFA_REQUIRED');
    expectProblem(await act(newId(), { mfa_code: code }), 404, 'SECURITY_FACTOR_NOT_FOUND');
  });

  test('five wrong codes lock for a quarter of an hour: 429 with Retry-After', async () => {
    const code = await freshCode(fixture, tenant);
    const wrong = code === '000000' ? '111111' : '000000';
    const send = (mfa_code: string) => fixture.call('POST', path, { tenant, body: { ...factorBody(), mfa_code } });
    for (let n = 0; n < 5; n += 1) expectProblem(await send(wrong), 400, 'MFA_INVALID');
    const locked = await send(code);
    expectProblem(locked, 429, 'rate_limited');
    expect(Number(locked.headers.get('retry-after'))).toBeGreaterThan(880);
    // reading needs no second factor
    expect(await list()).toEqual({ items: [], total: 0 });
  });

  test('one code in ten different requests at once: one entry', async () => {
    const mfa_code = await freshCode(fixture, tenant);
    const answers = await Promise.all(Array.from({ length: 10 }, () => post({ ...factorBody(), mfa_code })));
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([201, ...Array<number>(5).fill(400), ...Array<number>(4).fill(429)]);
    expect(await list()).toMatchObject({ total: 1 });
  });

  test('twelve identical requests at once, with the limits of production: one 201, the others 409, and MFA is not locked', async () => {
    const body = { ...factorBody(), mfa_code: await freshCode(fixture, tenant) };
    // a separate address: those of the other tests are counted in the same database
    const headers = { 'X-Forwarded-For': `203.0.113.${mounts.findIndex((mount) => mount === path) + 1}` };
    const ask = () => limited.call('POST', path, { tenant, body, headers });
    const answers = await Promise.all(Array.from({ length: 12 }, ask));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(11);
    for (const answer of answers.filter(({ status }) => status === 409))
      expectProblem(answer, 409, 'SECURITY_FACTOR_ALREADY_EXISTS');
    expect(await list()).toMatchObject({ total: 1 });
    expect(await audited()).toHaveLength(1);
  });

  test('a request sent again after its entry was deleted does not add it again', async () => {
    const body = { ...factorBody(), mfa_code: await freshCode(fixture, tenant) };
    const id = idOf(await fixture.call('POST', path, { tenant, body }));
    await fixture.database.query('update security_factors set deleted_at = now() where factor_id = $1', [id]);
    expectProblem(await fixture.call('POST', path, { tenant, body }), 400, 'MFA_INVALID');
    expect(await list()).toMatchObject({ total: 0 });
  });

  test('a refused request has used up its code', async () => {
    const body = factorBody();
    await added(body);
    const mfa_code = await freshCode(fixture, tenant);
    expectProblem(await post({ ...body, mfa_code }), 409, 'SECURITY_FACTOR_ALREADY_EXISTS');
    expectProblem(await post({ ...factorBody(), mfa_code }), 400, 'MFA_INVALID');
  });
});

describe('concurrent users of one client', () => {
  const colleagues = () => Promise.all(Array.from({ length: 6 }, () => buildColleague(fixture, tenant)));

  test('add one address in different spellings: one entry, added by one of them', async () => {
    const address = randomAddress();
    const users = await colleagues();
    const spellings = [address, address.toLowerCase(), `0x${address.slice(2).toUpperCase()}`];
    const bodies = await Promise.all(
      users.map(async (user, n) => factorBody({ address: spellings[n % 3], mfa_code: await freshCode(fixture, user) })),
    );
    const answers = await Promise.all(users.map((user, n) => fixture.call('POST', path, { tenant: user, body: bodies[n] })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
    const { items, total } = (await list()) as unknown as { items: { added_by: string }[]; total: number };
    expect(total).toBe(1);
    expect(users.map(({ userId }) => userId)).toContain(items[0]?.added_by);
  });

  test('activate entries of the same address: one becomes active', async () => {
    const users = await colleagues();
    const body = factorBody();
    const ids: string[] = [];
    while (ids.length < users.length) {
      const id = await added(body);
      ids.push(id);
      await setStatus(id, 'inactive');
    }
    const codes = await Promise.all(users.map((user) => freshCode(fixture, user)));
    const answers = await Promise.all(
      users.map((user, n) =>
        fixture.call('PUT', `${path}/${ids[n] as string}/status`, {
          tenant: user,
          body: { status: 'active', mfa_code: codes[n] },
        }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409]);
    expect(await list('?status=active')).toMatchObject({ total: 1 });
    expect(await list('?status=inactive')).toMatchObject({ total: 5 });
  });
});

describe.each(mounts)('addresses at %s', (mount) => {
  at(mount);

  test('every spelling of an EVM address is the same entry; it is kept as first given', async () => {
    const address = '0x52908400098527886E0F7030069857D2E4169EE7';
    const lower = address.toLowerCase();
    await added(factorBody({ address: lower }));
    for (const spelling of [address, lower, `0x${address.slice(2).toUpperCase()}`])
      expectProblem(await post(factorBody({ address: spelling })), 409, 'SECURITY_FACTOR_ALREADY_EXISTS');
    expect(await list()).toMatchObject({ items: [{ address: lower }], total: 1 });
  });

  test('keeps mixed case', async () => {
    const address = '0x8617E340B3D01FA5F11F306F4090FD50E238070D';
    expect((await post(factorBody({ address }))).body).toMatchObject({ address });
  });

  test.each([
    ['a wrong EIP-55 checksum', '0x52908400098527886E0F7030069857D2E4169eE7'],
    ['the prefix 0X', '0X52908400098527886E0F7030069857D2E4169EE7'],
    ['no prefix', '52908400098527886E0F7030069857D2E4169EE7'],
    ['a digit too few', '0x52908400098527886E0F7030069857D2E4169EE'],
    ['blanks around', ' 0x52908400098527886E0F7030069857D2E4169EE7 '],
    ['a zero-width space', '0x52908400098527886E0F7030069857D2E4169EE7\u200b'],
    ['the zero address', `0x${'0'.repeat(40)}`],
    ['another family', 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8'],
  ])('refuses %s, and the code stays good', async (_, address) => {
    const mfa_code = await freshCode(fixture, tenant);
    expectProblem(await post(factorBody({ address, mfa_code })), 400, 'invalid_address');
    expect((await post(factorBody({ mfa_code }))).status).toBe(201);
  });
});

describe.each(mounts)('bodies and queries at %s', (mount) => {
  at(mount);

  test.each([
    ['no type', { factor_type: undefined }, 'factor_type'],
    ['another type', { factor_type: 'whitelist' }, 'factor_type'],
    ['no chain', { chain: undefined }, 'chain'],
    ['an unknown chain', { chain: 'dogecoin' }, 'chain'],
    ['a chain that is not enabled', { chain: 'polygon' }, 'chain'],
    ['a chain in capitals', { chain: 'Ethereum' }, 'chain'],
    ['no address', { address: undefined }, 'address'],
    ['an empty address', { address: '' }, 'address'],
    ['an address of 256 characters', { address: `0x${'a'.repeat(254)}` }, 'address'],
    ['a label of 101 characters', { label: 'x'.repeat(101) }, 'label'],
    ['a label with NUL', { label: 'a\u0000' }, 'label'],
    ['a reason of 256 characters', { reason: 'x'.repeat(256) }, 'reason'],
    ['an unknown field', { lable: 'x' }, 'lable'],
    ['a status', { status: 'inactive' }, 'status'],
  ])('refuses %s, before it asks for a code', async (_, changes, field) => {
    const answer = await fixture.call('POST', path, { tenant, body: { ...factorBody(), ...changes } });
    expectProblem(answer, 400, 'invalid_parameter', field);
  });

  test('accepts label and reason of the maximum length, counted in characters', async () => {
    expect((await post(factorBody({ label: '🦊'.repeat(100), reason: 'é'.repeat(255) }))).status).toBe(201);
  });

  test('refuses an invalid status and unknown fields', async () => {
    const id = await added();
    for (const [body, field] of [
      [{}, 'status'],
      [{ status: 'deleted' }, 'status'],
      [{ status: 'active', reason: 'x' }, 'reason'],
    ] as const)
      expectProblem(await fixture.call('PUT', `${path}/${id}/status`, { tenant, body }), 400, 'invalid_parameter', field);
    const answer = await fixture.call('DELETE', `${path}/${id}`, { tenant, body: { reason: 'x' } });
    expectProblem(answer, 400, 'invalid_parameter', 'reason');
  });

  test('lists newest first, filtered by chain, type and status, page by page', async () => {
    const a = await added(factorBody());
    const b = await added(factorBody({ factor_type: 'WHITELIST' }));
    const c = await added(factorBody({ chain: 'base' }));
    await setStatus(c, 'inactive');
    const ids = async (query: string) => {
      const { items, total } = (await list(query)) as unknown as { items: { factor_id: string }[]; total: number };
      return [items.map(({ factor_id }) => factor_id), total];
    };
    expect(await ids('')).toEqual([[c, b, a], 3]);
    expect(await ids('?chain=ethereum')).toEqual([[b, a], 2]);
    expect(await ids('?factor_type=WHITELIST')).toEqual([[b], 1]);
    expect(await ids('?status=inactive')).toEqual([[c], 1]);
    expect(await ids('?status=active&chain=base')).toEqual([[], 0]);
    expect(await ids('?page_size=2')).toEqual([[c, b], 3]);
    expect(await ids('?page_size=2&page=2')).toEqual([[a], 3]);
    expect(await ids('?page_size=2&page=3')).toEqual([[], 3]);
  });

  test.each([
    ['chain=dogecoin', 'chain'],
    ['chain=', 'chain'],
    ['factor_type=GREYLIST', 'factor_type'],
    ['status=deleted', 'status'],
    ['statsu=active', 'statsu'],
    ['page_size=1001', 'page_size'],
    ['page=0', 'page'],
  ])('refuses ?%s', async (query, field) => {
    expectProblem(await fixture.call('GET', `${path}?${query}`, { tenant }), 400, 'invalid_parameter', field);
  });
});

test('a client has at most 10000 entries; deleted ones do not count', async () => {
  const id = await added();
  await fixture.database.query(
    `insert into security_factors (factor_id, client_id, factor_type, chain, address, address_key, added_by)
     select gen_random_uuid(), $1, 'BLACKLIST', 'ethereum', 'filler', 'filler ' || n, $2 from generate_series(1, 9999) n`,
    [tenant.clientId, tenant.userId],
  );
  expectProblem(await post(factorBody()), 400, 'business_error');
  const { items, total } = (await list()) as unknown as { items: unknown[]; total: number };
  expect([items.length, total]).toEqual([1000, 10_000]);
  expect((await audited()).length).toBe(1);
  await remove(id);
  expect((await post(factorBody())).status).toBe(201);
});

describe('both mounts', () => {
  test('are one resource, described once', async () => {
    const [, second] = mounts;
    const mfa_code = await freshCode(fixture, tenant);
    const answer = await fixture.call('POST', second, { tenant, body: { ...factorBody(), mfa_code } });
    expect(answer.status).toBe(201);
    expect(answer.headers.get('location')).toBe(`/api/v1${path}/${idOf(answer)}`);
    for (const mount of [path, second]) {
      expect((await fixture.call('GET', mount, { tenant })).body).toEqual({ items: [answer.body], total: 1 });
      expect((await fixture.call('GET', `${mount}/${idOf(answer)}`, { tenant })).body).toEqual(answer.body);
      expectProblem(await fixture.call('GET', `${mount}/`, { tenant }), 400, 'invalid_parameter', 'id');
      expectProblem(await fixture.call('GET', mount, { tenant: null }), 401, 'unauthorized');
      expectProblem(await fixture.call('PUT', mount, { tenant }), 405, 'method_not_allowed');
    }
    const status = { status: 'inactive', mfa_code: await freshCode(fixture, tenant) };
    expect((await fixture.call('PUT', `${second}/${idOf(answer)}/status`, { tenant, body: status })).status).toBe(200);
    const body = { mfa_code: await freshCode(fixture, tenant) };
    expect((await fixture.call('DELETE', `${second}/${idOf(answer)}`, { tenant, body })).status).toBe(200);
    expect((await fixture.call('GET', '/openapi.json', { tenant: null })).text).not.toContain('"/v1/client');
  });
});

describe.each(mounts)('another client at %s', (mount) => {
  at(mount);

  test('sees and changes nothing, and can add the same address', async () => {
    const body = factorBody();
    const id = await added(body);
    const other = await buildTenant(fixture);
    expect(await list('', other)).toEqual({ items: [], total: 0 });
    const call = async (method: string, rest: string, fields?: object) =>
      fixture.call(method, `${path}/${id}${rest}`, {
        tenant: other,
        ...(fields && { body: { ...fields, mfa_code: await freshCode(fixture, other) } }),
      });
    for (const answer of [
      await call('GET', ''),
      await call('PUT', '/status', { status: 'inactive' }),
      await call('DELETE', '', {}),
    ])
      expectProblem(answer, 404, 'SECURITY_FACTOR_NOT_FOUND');
    expect((await fixture.call('GET', `${path}/${id}`, { tenant })).body).toMatchObject({ factor_id: id, status: 'active' });
    expect((await post(body, other)).status).toBe(201);
  });

  test('another user of the client sees the same list', async () => {
    const id = await added();
    const colleague = await buildColleague(fixture, tenant);
    expect(await list('', colleague)).toMatchObject({ items: [{ factor_id: id, added_by: tenant.userId }], total: 1 });
    const body = { status: 'inactive', mfa_code: await freshCode(fixture, colleague) };
    expect((await fixture.call('PUT', `${path}/${id}/status`, { tenant: colleague, body })).status).toBe(200);
    expect((await audited()).at(-1)).toMatchObject({ action: 'security_factor.deactivated', actor_id: colleague.userId });
  });
});

describe('Idempotency-Key', () => {
  test('the same request gets the first answer again, although its code is used up', async () => {
    const headers = { 'Idempotency-Key': newId() };
    const body = { ...factorBody(), mfa_code: await freshCode(fixture, tenant) };
    const first = await fixture.call('POST', path, { tenant, body, headers });
    await freshCode(fixture, tenant);
    const again = await fixture.call('POST', path, { tenant, body, headers });
    expect([first.status, again.status, again.text]).toEqual([201, 201, first.text]);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expectProblem(await fixture.call('POST', path, { tenant, body: factorBody(), headers }), 422, 'idempotency_key_reused');
  });

  test('a request whose answer was lost in a crash gets its entry', async () => {
    const key = newId();
    const call = {
      tenant,
      body: { ...factorBody(), mfa_code: await freshCode(fixture, tenant) },
      headers: { 'Idempotency-Key': key },
    };
    const first = await fixture.call('POST', path, call);
    await fixture.database.query(
      `update idempotency_keys set response_status = null, response_headers = null, response_body = null,
         leased_until = now() - interval '1 second', created_at = created_at - interval '1 second' where key = $1`,
      [key],
    );
    await freshCode(fixture, tenant);
    const again = await fixture.call('POST', path, call);
    expect([again.status, again.body]).toEqual([201, first.body]);
    expect(await list()).toMatchObject({ total: 1 });
    expect(await audited()).toHaveLength(1);
  });
});
