import { execFile } from 'node:child_process';
import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { projectRoot } from '../../../dev/paths';
import { migrations as nodeMigrations } from '../../../migrations/mpc-node';
import { loadRegistry } from '../../../src/chains/registry';
import { setUpDatabases } from '../../../src/cli/setup/databases';
import { databaseLogins, temporalLogin } from '../../../src/cli/setup/database-logins';
import { setUpFiles } from '../../../src/cli/setup/deployment-files';
import { entities } from '../../../src/entities';
import { parseKeks } from '../../../src/mpc/share-cipher';
import { ShareStore } from '../../../src/mpc/store';
import { createDatabase } from '../../../src/platform/database';
import { connectAs } from '../../../src/platform/database-login';
import { runGateway } from '../../stack/gateway-command';

/** On the Postgres of the run: names are those of a deployment, and are removed afterwards. */
const server = process.env.TEST_POSTGRES_URL ?? '';
const databases = [...new Set([...databaseLogins.map(({ database }) => database), ...temporalLogin.databases])];
const logins = [...databaseLogins.map(({ login }) => login), temporalLogin.login];
let root: string;
let from: string;

async function sql(text: string, url = server): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

async function removeAll(): Promise<void> {
  for (const database of databases) await sql(`drop database if exists ${database} with (force)`);
  for (const login of logins) await sql(`drop role if exists ${login}`);
}

const run = async () => (await setUpDatabases(from)).made;
/** What a process would connect with, at the address of this Postgres. */
const urlOf = (name: string) =>
  Object.assign(new URL(readFileSync(path.join(root, name), 'utf8')), { host: new URL(server).host }).toString();

beforeAll(async () => {
  await removeAll();
  root = mkdtempSync(path.join(tmpdir(), 'setup-databases-'));
  await setUpFiles({ root, environment: 'sandbox', registry: loadRegistry('sandbox', ['ethereum']) });
  from = path.join(root, 'databases');
  chmodSync(path.join(from, 'superuser_url'), 0o600);
  writeFileSync(path.join(from, 'superuser_url'), server);
});
beforeEach(run);
afterEach(removeAll);
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** With all files but one. */
async function without<T>(name: string, work: (folder: string) => Promise<T>): Promise<T> {
  const copy = mkdtempSync(path.join(tmpdir(), 'setup-elsewhere-'));
  try {
    cpSync(from, copy, { recursive: true });
    rmSync(path.join(copy, name));
    return await work(copy);
  } finally {
    rmSync(copy, { recursive: true });
  }
}

it('leaves out a node whose database is elsewhere, and nothing of the gateway', async () => {
  await removeAll();
  const { made, leftOut } = await without('mpc-node-2_url', setUpDatabases);
  expect(leftOut).toEqual(['mpc-node-2 (no mpc-node-2_url)']);
  expect(made).toEqual(expect.arrayContaining(['login gateway_mpc_1', 'database gateway_mpc_3']));
  expect(made.filter((name) => name.includes('gateway_mpc_2'))).toEqual([]);
  await expect(without('worker_url', setUpDatabases)).rejects.toThrow(/worker_url cannot be read \(ENOENT\)/);
});

it('the command names the node that it has left out, with the file that is not there', async () => {
  const command = (folder: string, ...options: string[]) =>
    promisify(execFile)(process.execPath, [
      ...[path.join(projectRoot, 'bin', 'gateway.js'), ...options, 'setup', 'databases', '--from', folder],
    ]);
  const { stdout } = await without('mpc-node-2_url', command);
  expect(stdout).toBe('all logins and databases are there\nleft out: mpc-node-2 (no mpc-node-2_url)\n');
  const answer = await without('mpc-node-3_url', (folder) => command(folder, '--json'));
  expect(JSON.parse(answer.stdout)).toEqual({ made: [], left_out: ['mpc-node-3 (no mpc-node-3_url)'] });
  expect((await command(from)).stdout).toBe('all logins and databases are there\n');
});

it('makes what every process starts with: the owner migrates, each process has its own rights, each node its own database', async () => {
  const owner = { DATABASE_OWNER_URL: urlOf('migrate/database_url'), GATEWAY_OPERATOR: 'ann' };
  const migrate = async (...options: string[]) => {
    const { code, out, err } = await runGateway(['migrate', '--json', ...options], owner);
    if (code !== 0) throw new Error(err);
    return JSON.parse(out) as { name: string }[];
  };
  const names = await migrate('--dry-run');
  expect(names.length).toBeGreaterThan(10);
  // an empty database is not asked about; what was tried has left it empty
  expect(await migrate('--reason', 'first deployment')).toEqual(names);
  expect(await migrate()).toEqual([]);
  const database = await createDatabase({ url: owner.DATABASE_OWNER_URL, poolSize: 1, applicationName: 'test' }).initialize();
  expect(await database.query('select action, actor_id, detail from audit_events')).toEqual([
    {
      ...{ action: 'schema.migrated', actor_id: 'ann' },
      detail: { migrations: names.length, newest: names.at(-1)?.name, stated_reason: 'first deployment' },
    },
  ]);
  await database.destroy();
  for (const name of ['api', 'worker', 'authoriser', 'operator'] as const) {
    const url = urlOf(`${name}/database_url`);
    const database = await connectAs(createDatabase({ url, poolSize: 2, applicationName: 'test', entities }), `gateway_${name}`);
    await database.destroy();
  }
  for (const node of [1, 2, 3] as const) {
    const keks = parseKeks(readFileSync(path.join(root, `mpc-node-${node}/kek`), 'utf8').trim());
    const store = await ShareStore.open({ url: urlOf(`mpc-node-${node}/database_url`), node, keks, migrations: nodeMigrations });
    await store.close();
  }
});

it("a node's login and database as docs/deployment.md has them for its own machine are reached by nobody else", async () => {
  await removeAll();
  const text = readFileSync(path.join(projectRoot, 'docs/deployment.md'), 'utf8');
  const [, code = ''] = /```sql\n([\s\S]*?)```/.exec(text) ?? [];
  const statements = code
    .replace('…', 'b7f3a9d2c6e1')
    .split(';')
    .filter((statement) => statement.trim());
  expect(statements.length).toBe(3);
  for (const statement of statements) await sql(statement);
  const own = Object.assign(new URL(server), { username: 'gateway_mpc_1', password: 'b7f3a9d2c6e1', pathname: '/gateway_mpc_1' });
  expect(await sql('select current_user::text as login', own.toString())).toEqual([{ login: 'gateway_mpc_1' }]);
  await sql(`create role gateway_mpc_2 login password 'b7f3a9d2c6e1'`);
  const other = Object.assign(new URL(own), { username: 'gateway_mpc_2' });
  await expect(sql('select 1', other.toString())).rejects.toThrow(/permission denied for database/);
});

it('makes nothing when it runs again, and only what is missing after an interrupted run', async () => {
  expect(await run()).toEqual([]);
  await sql('drop database gateway_mpc_2');
  await sql('revoke gateway_worker from gateway_worker_login');
  expect(await run()).toEqual(['membership of gateway_worker_login in gateway_worker', 'database gateway_mpc_2']);
});

it('two at once make everything once', async () => {
  await removeAll();
  const made = (await Promise.all([run(), run()])).flat();
  expect(new Set(made).size).toBe(made.length);
  expect(await run()).toEqual([]);
});

it('no login connects to a database of another trust domain', async () => {
  const worker = new URL(urlOf('worker/database_url'));
  for (const pathname of ['/gateway_mpc_1', '/temporal', '/temporal_visibility'])
    await expect(sql('select 1', Object.assign(new URL(worker), { pathname }).toString())).rejects.toThrow(
      /permission denied for database/,
    );
  const node = Object.assign(new URL(urlOf('mpc-node-1/database_url')), { pathname: '/gateway' });
  await expect(sql('select 1', node.toString())).rejects.toThrow(/permission denied for database/);
});

describe('refuses, and does not change', () => {
  it('a login with another password', async () => {
    await sql(`alter role gateway_api_login password 'another'`);
    await expect(run()).rejects.toThrow('the login gateway_api_login has another password than api_url');
    await expect(run()).rejects.toThrow('the login gateway_api_login has another password than api_url');
  });
  it('a login that administers the server', async () => {
    await sql('alter role gateway_worker_login superuser');
    await expect(run()).rejects.toThrow('the login gateway_worker_login is there, and either cannot log in or administers');
  });
  it('a login with the rights of two processes', async () => {
    await sql('grant gateway_authoriser to gateway_worker_login');
    await expect(run()).rejects.toThrow(
      'gateway_worker_login is a member of gateway_authoriser: it has to be one of gateway_worker alone',
    );
  });
  it('a database of somebody else', async () => {
    await sql('alter database gateway_mpc_3 owner to postgres');
    await expect(run()).rejects.toThrow('the database gateway_mpc_3 belongs to postgres: it has to belong to gateway_mpc_3');
  });
});
