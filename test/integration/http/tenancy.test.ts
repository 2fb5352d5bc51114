import { bodySchemaOf, type Document, type NamedOperation, operationsOf, readDocument } from '../../openapi';
import { buildTenant, createFixture, expectProblem, type Answer, type Fixture, type Tenant } from './fixture';
import { actor, owner, rows, type Actor, type Reach } from './tenancy.rows';

/** Separation of tenants: generated from the OpenAPI document, so that new references need a row. */

let fixture: Fixture;
let document: Document;
beforeAll(async () => {
  fixture = await createFixture();
  document = readDocument((await fixture.call('GET', '/openapi.json', { tenant: null })).body);
});
afterAll(() => fixture.close());

/**
 * Fields that refer to a resource of a client. A destination address belongs to nobody in particular; an
 * external id is each client's own name (external-ids.test.ts).
 */
const names = (field: string): boolean => (/_id$/.test(field) && field !== 'external_id') || field === 'from_address';

/** Everything in an operation that names something of a client's, as rows are keyed. */
function referencesOf({ name, operation }: NamedOperation): string[] {
  if (operation.security) return [];
  const inPath = operation.parameters.filter((parameter) => parameter.in === 'path');
  const inQuery = operation.parameters.filter((parameter) => parameter.in === 'query' && names(parameter.name));
  const inBody = Object.keys(bodySchemaOf(operation)?.properties ?? {}).filter(names);
  return [
    ...(inPath.length > 0 ? [name] : []),
    ...inQuery.map((parameter) => `${name}?${parameter.name}`),
    ...inBody.map((field) => `${name}#${field}`),
  ];
}

/** Counters of the limits, which the other client's requests change. */
const notCompared = ['request_quotas', 'login_failures'];
const intrudersOwn = ['audit_events', 'idempotency_keys', 'user_totp', 'totp_steps', 'totp_recovery_codes'];

/** A digest of every table's rows. */
async function image({ clientId, userId }: Tenant): Promise<Record<string, string>> {
  // a delivery after an answer deletes its message
  await fixture.resources.outbox.settled();
  const columns = await fixture.database.query<{ name: string; columns: string[] }[]>(
    `select table_name as name, array_agg(column_name::text) as columns from information_schema.columns
      where table_schema = 'public' group by table_name`,
  );
  const digests: Record<string, string> = {};
  for (const table of columns.filter(({ name }) => !notCompared.includes(name))) {
    const own = table.columns.includes('client_id') ? 'client_id' : 'user_id';
    const where = intrudersOwn.includes(table.name) ? `where ${own} is distinct from $1` : 'where $1::uuid is not null';
    const [row] = await fixture.database.query<{ digest: string }[]>(
      `select count(*) || ' ' || coalesce(md5(string_agg(t::text, ',' order by t::text)), '') as digest from "${table.name}" t ${where}`,
      [own === 'client_id' ? clientId : userId],
    );
    digests[table.name] = row?.digest ?? '';
  }
  return digests;
}

const send = (key: string, mount: string, reach: Reach, as: Actor): Promise<Answer> => {
  const { path, body } = reach(as);
  return fixture.call((key.split(' ')[0] ?? '').toUpperCase(), `${mount}${path}`, {
    tenant: as,
    ...(body !== undefined && { body }),
  });
};

/** Prefix of the paths that are mounted twice. */
const secondMount = '/v1';
const isMountedTwice = (path: string): boolean => path.startsWith('/client/');
const cases = Object.keys(rows).flatMap((key) => [
  [key, ''],
  ...(isMountedTwice(key.split(' ')[1] ?? '') ? [[key, secondMount]] : []),
]) as [string, string][];

test('every path that is mounted twice is tested at both mounts', () => {
  for (const { path, alsoAt } of fixture.resources.routes)
    expect({ path, alsoAt }).toEqual({ path, alsoAt: isMountedTwice(path) ? `${secondMount}${path}` : undefined });
});

test('every reference in the document has a row, and every row a reference', () => {
  expect(Object.keys(rows).sort()).toEqual(operationsOf(document).flatMap(referencesOf).sort());
});

test.each(cases)('%s, mount "%s": another client finds nothing and changes nothing', async (key, mount) => {
  const a = await owner(fixture, await buildTenant(fixture));
  const b = await actor(fixture, await buildTenant(fixture));
  const reach = (await rows[key]?.(a)) as Reach;
  const before = await image(b);
  const answer = await send(key, mount, reach, b);
  const none = {
    data: [],
    total: 0,
    has_more: false,
    ...(/^get \/(transactions|approvals)\?/.test(key) && { total_is_exact: true, next: null }),
  };
  if (key.includes('?')) expect([answer.status, answer.body]).toEqual([200, none]);
  else expectProblem(answer, 404, /SECURITY_FACTOR/.test(answer.text) ? 'SECURITY_FACTOR_NOT_FOUND' : 'not_found');
  expect(await image(b)).toEqual(before);

  // the same request succeeds for the owner: the resource exists
  const own = await send(key, mount, reach, a);
  expect({ status: own.status < 300, text: own.text }).toEqual({ status: true, text: own.text });
  if (key.includes('?')) expect(Number(own.body['total'])).toBeGreaterThan(0);
});

test('without a token 401, except for public operations', async () => {
  const open: string[] = [];
  for (const { name, method, path, operation } of operationsOf(document)) {
    const answer = await fixture.call(method.toUpperCase(), path.replace(/\{\w+\}/g, 'x'), { tenant: null });
    if (operation.security) open.push(name);
    else expectProblem(answer, 401, 'unauthorized');
  }
  // listed by name, so that nothing becomes public by mistake
  expect(open.sort()).toEqual(['get /health/live', 'get /health/ready', 'get /openapi.json', 'post /auth/token']);
});
