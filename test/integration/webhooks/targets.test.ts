import { TargetGuard } from '../../../src/webhooks/ssrf-guard';
import { type Answer, type Fixture, buildTenant, createFixture, expectProblem, type Tenant } from '../http/fixture';
import { freshCode } from '../http/second-factor';

/** Which urls of webhooks are accepted, outside a developer's machine, when they are saved. */

/** Addresses of names; all other names do not exist. */
const names: Record<string, string[]> = {
  'hooks.example.com': ['93.184.215.14'],
  'inside.example.com': ['10.1.2.3'],
  'both.example.com': ['93.184.215.14', '127.0.0.1'],
  'six.example.com': ['fd00::1'],
};
const targets = TargetGuard.publicOnly((name) =>
  Promise.resolve((names[name] ?? []).map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))),
);
const refused: [string, string][] = [
  ['http', 'http://hooks.example.com/'],
  ['another scheme', 'ftp://hooks.example.com/'],
  ['a loopback address', 'https://127.0.0.1/'],
  ['a loopback address as one number', 'https://2130706433/'],
  ['the IPv6 loopback address', 'https://[::1]/'],
  ['a private address', 'https://192.168.1.1/'],
  ['a link-local address', 'https://169.254.169.254/latest/meta-data/'],
  ['a private address mapped into IPv6', 'https://[::ffff:10.0.0.1]/'],
  ['a name of a private address', 'https://inside.example.com/'],
  ['a name of a public and a loopback address', 'https://both.example.com/'],
  ['a name of a private IPv6 address', 'https://six.example.com/'],
  ['a name that does not exist', 'https://nowhere.example.com/'],
  ['a privileged port', 'https://hooks.example.com:22/'],
  ['credentials', 'https://user:pass@hooks.example.com/'],
];

let fixture: Fixture;
let tenant: Tenant;
let path: string;
beforeAll(async () => {
  fixture = await createFixture({ webhookTargets: targets });
  tenant = await buildTenant(fixture);
  const created = await act('POST', '/webhooks', { url: 'https://hooks.example.com/events' });
  expect(created.status).toBe(201);
  path = `/webhooks/${String(created.body['webhook_id'])}`;
});
afterAll(() => fixture.close());

const act = async (method: string, to: string, body: object): Promise<Answer> =>
  fixture.call(method, to, { tenant, body: { ...body, mfa_code: await freshCode(fixture, tenant) } });
const saved = async () => (await fixture.call('GET', '/webhooks', { tenant })).body;

test.each(refused)('refuses %s: a new webhook and a changed one', async (_, url) => {
  const before = await saved();
  expectProblem(await act('POST', '/webhooks', { url }), 400, 'invalid_parameter', 'url');
  expectProblem(await act('PUT', path, { url, description: 'other' }), 400, 'invalid_parameter', 'url');
  expect(await saved()).toEqual(before);
  expect(before).toMatchObject({ data: [{ url: 'https://hooks.example.com/events' }], total: 1 });
});

test('takes a public one, new and changed', async () => {
  expect((await act('PUT', path, { url: 'https://hooks.example.com:8443/other' })).body).toMatchObject({
    url: 'https://hooks.example.com:8443/other',
  });
  expect((await act('PUT', path, { url: 'https://hooks.example.com/events' })).status).toBe(200);
});
