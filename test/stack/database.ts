import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import type { DataSource } from 'typeorm';
import { createLogins, type LoginUrls, loginName } from '../../dev/logins';
import { randomPassword } from '../../src/cli/setup/new-secrets';
import { migrations } from '../../migrations';
import { entities } from '../../src/entities';
import { createDatabase } from '../../src/platform/database';
import { databaseRoles } from '../../src/platform/database-roles';

export interface TestDatabase {
  /** Superuser. */
  url: string;
  /** Connected as superuser, and migrated. */
  database: DataSource;
  /** A new login for each process. The database counts as compared with the signing nodes. */
  logins: () => Promise<LoginUrls>;
  drop(): Promise<void>;
}

/** A fresh, migrated database of this run's Postgres: a copy of the template, made in milliseconds. */
export async function createTestDatabase({ poolSize = 10 } = {}): Promise<TestDatabase> {
  const { TEST_POSTGRES_URL: server, TEST_POSTGRES_TEMPLATE: template } = process.env;
  if (!server || !template) throw new Error('there is no test Postgres: run this test in the jest project `integration`');
  const name = `test_${randomBytes(6).toString('hex')}`;
  await asSuperuser(server, `create database ${name} template ${template} strategy file_copy`);
  const url = databaseUrl(server, name);
  const database = await connect(url, poolSize);
  let hasLogins = false;
  const drop = async () => {
    if (database.isInitialized) await database.destroy();
    const owned = hasLogins ? databaseRoles.map((role) => `drop role if exists ${loginName(url, role)}`) : [];
    await asSuperuser(server, `drop database if exists ${name} with (force)`, ...owned);
  };
  const logins = async () => {
    await markCompared(database);
    hasLogins = true;
    return createLogins(url, randomPassword);
  };
  return { url, database, logins, drop };
}

/** As the authoriser does when the signing nodes have shown no order that is missing. */
const markCompared = (database: DataSource): Promise<unknown> =>
  database.query('update order_comparison set compared_as = database_incarnation(), compared_at = now()');

/** Runs the migrations once, for all later copies. Returns its name. */
export async function createTemplateDatabase(server: string): Promise<string> {
  const name = 'template_gateway';
  await asSuperuser(server, `create database ${name}`);
  const database = await connect(databaseUrl(server, name));
  await database.runMigrations({ transaction: 'each' });
  await database.destroy();
  return name;
}

/** What a test does itself exceeds the limit of requests on a busy machine. */
export const testStatementTimeoutMs = 180_000;
/** It limits the wait for a connection of the pool too, where a test sends many requests at once. */
export const testConnectTimeoutMs = 60_000;

/** With any login. The caller destroys it. */
export const openDatabase = (url: string, { poolSize = 3 } = {}): Promise<DataSource> => connect(url, poolSize);

function connect(url: string, poolSize = 10): Promise<DataSource> {
  const timeouts = { statementTimeoutMs: testStatementTimeoutMs, connectTimeoutMs: testConnectTimeoutMs };
  return createDatabase({ url, poolSize, applicationName: 'test', entities, migrations, ...timeouts }).initialize();
}

async function asSuperuser(server: string, ...statements: string[]): Promise<void> {
  const client = new Client({ connectionString: server, connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

function databaseUrl(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.toString();
}
