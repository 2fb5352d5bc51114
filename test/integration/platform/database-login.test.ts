import type { DataSource } from 'typeorm';
import { createLogins, type LoginUrls } from '../../../dev/logins';
import { randomPassword } from '../../../src/cli/setup/new-secrets';
import { ConfigError } from '../../../src/platform/config';
import { createDatabase } from '../../../src/platform/database';
import { connectAs } from '../../../src/platform/database-login';
import { databaseRoles } from '../../../src/platform/database-roles';
import { createTestDatabase, type TestDatabase } from '../../stack/database';

let db: TestDatabase;
let logins: LoginUrls;
let connected: DataSource[] = [];

beforeAll(async () => {
  db = await createTestDatabase();
  logins = await db.logins();
});
afterEach(async () => {
  for (const database of connected) if (database.isInitialized) await database.destroy();
  connected = [];
});
afterAll(() => db.drop());

function databaseAt(url: string): DataSource {
  const database = createDatabase({ url, poolSize: 2, applicationName: 'test', entities: [] });
  connected.push(database);
  return database;
}

test.each(databaseRoles)('a login of %s is accepted for its own process and refused for the others', async (role) => {
  expect((await connectAs(databaseAt(logins[role]), role)).isInitialized).toBe(true);
  for (const other of databaseRoles.filter((name) => name !== role)) {
    const database = databaseAt(logins[role]);
    await expect(connectAs(database, other)).rejects.toThrow(new RegExp(`no member of ${other}`));
    expect(database.isInitialized).toBe(false);
  }
});

test('an administrator is refused, whatever the process', async () => {
  for (const role of databaseRoles) {
    await expect(connectAs(databaseAt(db.url), role)).rejects.toThrow(/names postgres, an administrator of the server/);
    await expect(connectAs(databaseAt(db.url), role)).rejects.toBeInstanceOf(ConfigError);
  }
});

test('a member of two roles is refused by the process, and by the database for what only one of them may do', async () => {
  const login = decodeURIComponent(new URL(logins.gateway_worker).username);
  await db.database.query(`grant gateway_authoriser to ${login}`);
  try {
    const database = databaseAt(logins.gateway_worker);
    await expect(connectAs(database, 'gateway_worker')).rejects.toThrow(/gateway_authoriser and gateway_worker/);
    await database.initialize();
    await expect(database.query('select login_role()')).rejects.toThrow(/not a member of exactly one role/);
  } finally {
    await db.database.query(`revoke gateway_authoriser from ${login}`);
  }
});

test.each(['pg_write_all_data', 'pg_execute_server_program'])('a member of %s is refused', async (role) => {
  const login = decodeURIComponent(new URL(logins.gateway_api).username);
  await db.database.query(`grant ${role} to ${login}`);
  try {
    await expect(connectAs(databaseAt(logins.gateway_api), 'gateway_api')).rejects.toThrow(
      new RegExp(`a member of gateway_api and .*${role}`),
    );
  } finally {
    await db.database.query(`revoke ${role} from ${login}`);
  }
});

test('the owner of the schema is refused', async () => {
  const login = decodeURIComponent(new URL(logins.gateway_worker).username);
  await db.database.query(`alter table chain_blocks owner to ${login}`);
  try {
    await expect(connectAs(databaseAt(logins.gateway_worker), 'gateway_worker')).rejects.toThrow(/the owner of the schema/);
  } finally {
    await db.database.query('alter table chain_blocks owner to postgres');
  }
});

test('logins can be made again, with other passwords', async () => {
  const again = await createLogins(db.url, randomPassword);
  await expect(databaseAt(logins.gateway_api).initialize()).rejects.toThrow(/password authentication failed/);
  expect((await connectAs(databaseAt(again.gateway_api), 'gateway_api')).isInitialized).toBe(true);
  logins = again;
});
