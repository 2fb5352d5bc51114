import { readFileSync } from 'node:fs';
import { Client } from 'pg';
import { devPaths } from '../../dev/paths';
import { databaseRoles } from '../../src/platform/database-roles';
import { dataFolder, stack } from '../stack/client';

/** A copy of the gateway's database, and its restoration in the place of the original. A copy has other object ids, as a restored dump. */

const nameOf = (): string => new URL(stack().postgres.url).pathname.slice(1);
const backupName = (): string => `${nameOf()}_backup`;

/** As superuser, in database `postgres`. */
async function onServer(work: (run: (sql: string) => Promise<unknown>) => Promise<void>): Promise<void> {
  const { host, username } = new URL(stack().postgres.url);
  const password = readFileSync(`${devPaths(dataFolder()).secrets}/postgres-superuser`, 'utf8');
  const client = new Client({ connectionString: `postgres://postgres:${password}@${host}/postgres` });
  await client.connect();
  try {
    await work(async (sql) => client.query(sql.replaceAll(':owner', username)));
  } finally {
    await client.end();
  }
}

const closeConnections = (name: string): string =>
  `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`;

/** The processes lose their connections for a moment. */
export const backUp = (): Promise<void> =>
  onServer(async (run) => {
    await run(`drop database if exists ${backupName()} with (force)`);
    await run(`alter database ${nameOf()} allow_connections false`);
    try {
      await run(closeConnections(nameOf()));
      await run(`create database ${backupName()} template ${nameOf()} strategy file_copy owner :owner`);
    } finally {
      await run(`alter database ${nameOf()} allow_connections true`);
    }
    // rights on the database itself are not copied
    await run(`revoke connect, temporary on database ${backupName()} from public`);
    await run(`grant connect on database ${backupName()} to ${databaseRoles.join(', ')}`);
  });

/** What was committed since the backup is lost. */
export const restore = (): Promise<void> =>
  onServer(async (run) => {
    await run(`alter database ${nameOf()} allow_connections false`);
    await run(closeConnections(nameOf()));
    await run(`drop database ${nameOf()} with (force)`);
    await run(`alter database ${backupName()} rename to ${nameOf()}`);
  });
