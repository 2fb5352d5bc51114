import { newId } from '../../../src/platform/ids';
import { randomAddress } from '../../factories';
import { auditOf, listAddress } from '../screening/factors';
import { type Answer, buildTenant, createFixture, expectProblem, type Fixture, type Tenant } from './fixture';
import { buildColleague, freshCode } from './second-factor';

/** Many changes of the lists of addresses with one code. */

let fixture: Fixture;
let tenant: Tenant;
beforeAll(async () => void (fixture = await createFixture({ poolSize: 20 })));
afterAll(() => fixture.close());
beforeEach(async () => void (tenant = await buildTenant(fixture)));

interface Changes {
  remove?: unknown;
  add?: unknown;
}
interface How {
  as?: Tenant;
  code?: string;
  key?: string;
}
const path = '/client/security-factors';
const entry = (changes: object = {}) => ({ factor_type: 'BLACKLIST', chain: 'ethereum', address: randomAddress(), ...changes });
const change = async (changes: Changes, { as = tenant, code, key }: How = {}): Promise<Answer> =>
  fixture.call('POST', `${path}/batch`, {
    tenant: as,
    body: { ...changes, mfa_code: code ?? (await freshCode(fixture, as)) },
    headers: key === undefined ? {} : { 'Idempotency-Key': key },
  });
interface Shown {
  removed: { factor_id: string; error: { code: string; errors: { field: string }[] } | null }[];
  added: { factor: Record<string, unknown> | null; error: { code: string; errors: { field: string }[] } | null }[];
}
const shown = ({ status, body, text }: Answer): Shown => {
  expect({ status, text }).toEqual({ status: 200, text });
  return body as unknown as Shown;
};
const codesOf = (answer: Answer) => {
  const { removed, added } = shown(answer);
  return [...removed, ...added].map(({ error }) => error?.code ?? null);
};
const listed = async () => (await fixture.call('GET', path, { tenant })).body as unknown as { items: Record<string, unknown>[] };
const auditedFor = async (action: string) => {
  const [row] = await fixture.database.query<{ n: number }[]>(
    'select count(*)::int as n from audit_events where client_id = $1 and action = $2',
    [tenant.clientId, action],
  );
  return row?.n;
};

test('removes and adds with one code, removals first; each is audited', async () => {
  const old = await listAddress(fixture.database, tenant, randomAddress());
  const moved = randomAddress();
  const again = await listAddress(fixture.database, tenant, moved);
  const entries = [entry({ label: 'a', reason: 'b' }), entry({ factor_type: 'WHITELIST' }), entry({ address: moved })];
  const { removed, added } = shown(await change({ remove: [old, again], add: entries }));
  expect(removed).toEqual([old, again].map((factor_id) => ({ factor_id, error: null })));
  expect(added.map(({ factor }) => factor)).toMatchObject(
    entries.map((each) => ({ ...each, status: 'active', added_by: tenant.userId })),
  );
  const { items } = await listed();
  expect(items.map(({ address }) => address).sort()).toEqual(entries.map(({ address }) => address).sort());
  for (const factorId of [old, again])
    expect(await auditOf(fixture.database, 'security_factor.deleted', factorId)).toHaveLength(1);
  for (const { factor } of added)
    expect(await auditOf(fixture.database, 'security_factor.created', String(factor?.['factor_id']))).toMatchObject([
      { actor_id: tenant.userId, client_id: tenant.clientId },
    ]);
});

test('one that is refused keeps no other from being carried out', async () => {
  const theirs = await listAddress(fixture.database, fixture.other, randomAddress());
  const mine = await listAddress(fixture.database, tenant, randomAddress());
  const taken = randomAddress();
  await listAddress(fixture.database, tenant, taken);
  const good = entry();
  const answer = await change({
    remove: [newId(), theirs, 'nonsense', mine, mine],
    add: [entry({ chain: 'nowhere' }), entry({ address: taken.toLowerCase() }), good, entry({ address: '0x1' }), good, entry()],
  });
  const missing = 'SECURITY_FACTOR_NOT_FOUND';
  const exists = 'SECURITY_FACTOR_ALREADY_EXISTS';
  expect(codesOf(answer)).toEqual([
    ...[missing, missing, missing, null, missing],
    ...['invalid_parameter', exists, null, 'invalid_address', exists, null],
  ]);
  expect(shown(answer).added.map(({ error }) => error?.errors.map(({ field }) => field))).toEqual([
    ...[['chain'], [], undefined, ['address'], [], undefined],
  ]);
  expect((await listed()).items).toHaveLength(3);
  expect([await auditedFor('security_factor.created'), await auditedFor('security_factor.deleted')]).toEqual([2, 1]);
});

test('a code is good for one request: again it changes nothing', async () => {
  const code = await freshCode(fixture, tenant);
  const add = [entry(), entry({ address: 'none' })];
  expect(codesOf(await change({ add }, { code }))).toEqual([null, 'invalid_address']);
  expectProblem(await change({ add }, { code }), 409, 'SECURITY_FACTOR_ALREADY_EXISTS');
  expectProblem(await change({ add: [entry()] }, { code }), 400, 'MFA_INVALID');
  expect((await listed()).items).toHaveLength(1);
});

test('a key gives the first answer again, and changes and answer are there together or not at all', async () => {
  const [key, code] = [newId(), await freshCode(fixture, tenant)];
  const add = [entry(), entry()];
  const { database } = fixture;
  await database.query(
    `create function no_answer() returns trigger language plpgsql as $$ begin raise exception 'no answer'; end $$`,
  );
  await database.query(
    `create trigger no_answer before update on idempotency_keys for each row when (new.response_status = 200) execute function no_answer()`,
  );
  try {
    expectProblem(await change({ add }, { code, key }), 500, 'internal_error');
  } finally {
    await database.query('drop function no_answer cascade');
  }
  expect((await listed()).items).toEqual([]);
  const first = await change({ add }, { code, key });
  expect(codesOf(first)).toEqual([null, null]);
  const again = await change({ add }, { code, key });
  expect([again.status, again.text, again.headers.get('idempotency-replayed')]).toEqual([200, first.text, 'true']);
  expectProblem(await change({ add: [entry()] }, { code, key }), 422, 'idempotency_key_reused');
  expect(await auditedFor('security_factor.created')).toBe(2);
});

test('two users with the same changes at once, in opposite order: each is carried out once', async () => {
  const colleague = await buildColleague(fixture, tenant);
  const remove: string[] = [];
  for (let n = 0; n < 8; n += 1) remove.push(await listAddress(fixture.database, tenant, randomAddress()));
  const add = Array.from({ length: 8 }, () => entry());
  const codes = [await freshCode(fixture, tenant), await freshCode(fixture, colleague)];
  const answers = await Promise.all([
    change({ remove, add }, { code: codes[0] as string }),
    change({ remove: [...remove].reverse(), add: [...add].reverse() }, { as: colleague, code: codes[1] as string }),
  ]);
  const done = answers.map((answer) => codesOf(answer).filter((code) => code === null).length);
  expect((done[0] ?? 0) + (done[1] ?? 0)).toBe(16);
  expect((await listed()).items).toHaveLength(8);
  expect([await auditedFor('security_factor.created'), await auditedFor('security_factor.deleted')]).toEqual([8, 8]);
});

test('a batch beside a single change of one of its entries: neither waits for the other in a circle', async () => {
  const colleague = await buildColleague(fixture, tenant);
  const { database } = fixture;
  const [first, second] = [
    await listAddress(database, tenant, randomAddress()),
    await listAddress(database, tenant, randomAddress()),
  ];
  // a change counts also where it is rolled back; after the first one, which raises the version of the blacklist, the other request comes
  await database.query(`
    create sequence changes_made;
    create function count_change() returns trigger language plpgsql security definer as $$ begin perform nextval('changes_made'); return new; end $$;
    create function wait_here() returns trigger language plpgsql as $$ begin perform pg_sleep(0.5); return null; end $$;
    create trigger a_count before update on security_factors for each row execute function count_change();
    create trigger z_wait after update on security_factors for each row execute function wait_here()`);
  try {
    const [own, other] = [await freshCode(fixture, tenant), await freshCode(fixture, colleague)];
    const batch = change({ remove: [first, second] }, { code: own });
    await database.query('select pg_sleep(0.25)');
    const single = fixture.call('DELETE', `${path}/${second}`, { tenant: colleague, body: { mfa_code: other } });
    expect(codesOf(await batch)[0]).toBeNull();
    expect([200, 404]).toContain((await single).status);
    // what Postgres ends because of a circle is tried again, and counts once more
    expect(await database.query('select last_value::int from changes_made')).toEqual([{ last_value: 2 }]);
  } finally {
    await database.query('drop function count_change cascade; drop function wait_here cascade; drop sequence changes_made');
  }
});

test('a hundred at once', async () => {
  const add = Array.from({ length: 100 }, (_, n) => entry({ label: `n${n}` }));
  const { added } = shown(await change({ add }));
  expect(added.map(({ factor }) => factor?.['label'])).toEqual(add.map((_, n) => `n${n}`));
}, 60_000);

test.each<[string, Changes, string]>([
  ['nothing', {}, 'add'],
  ['empty lists', { remove: [], add: [] }, 'add'],
  ['101 together', { remove: Array(51).fill('x'), add: Array(50).fill(entry()) }, 'add'],
  ['101 entries', { add: Array(101).fill(entry()) }, 'add'],
  ['an entry without an address', { add: [{ factor_type: 'BLACKLIST', chain: 'ethereum' }] }, 'add.0.address'],
  ['an id that is a number', { remove: [1] }, 'remove.0'],
])('refuses %s, and the code stays good', async (_, changes, field) => {
  const code = await freshCode(fixture, tenant);
  expectProblem(await change(changes, { code }), 400, 'invalid_parameter', field);
  expect(codesOf(await change({ add: [entry()] }, { code }))).toEqual([null]);
});

test('without a code, and without a second factor', async () => {
  expectProblem(await fixture.call('POST', `${path}/batch`, { tenant, body: { add: [entry()] } }), 400, 'MFA_NOT_ENABLED');
  await freshCode(fixture, tenant);
  expectProblem(await fixture.call('POST', `/v1${path}/batch`, { tenant, body: { add: [entry()] } }), 400, 'MFA_REQUIRED');
});
