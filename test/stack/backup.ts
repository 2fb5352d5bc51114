import { readFileSync } from 'node:fs';
import { Client } from 'pg';
import { devPaths } from '../../dev/paths';
import { databaseRoles } from '../../src/platform/database-roles';
import { dataFolder, stack } from './client';

/** A copy of a whole database, and its restoration in the place of the original. A copy has other object ids, as a restored dump. */

interface CopiedDatabase {
  /** With the login of its owner. */
  url: string;
  /** Who may connect besides the owner. */
  logins: readonly string[];
}

const gatewayDatabase = (): CopiedDatabase => ({ url: stack().postgres.url, logins: databaseRoles });

const nameOf = ({ url }: CopiedDatabase): string => new URL(url).pathname.slice(1);
const backupName = (database: CopiedDatabase): string => `${nameOf(database)}_backup`;

/** As superuser, in database `postgres`. */
async function onServer({ url }: CopiedDatabase, work: (run: (sql: string) => Promise<unknown>) => Promise<void>): Promise<void> {
  const password = readFileSync(`${devPaths(dataFolder()).secrets}/postgres-superuser`, 'utf8');
  const client = new Client({ connectionString: `postgres://postgres:${password}@${new URL(url).host}/postgres` });
  await client.connect();
  try {
    await work(async (sql) => client.query(sql));
  } finally {
    await client.end();
  }
}

const closeConnections = (name: string): string =>
  `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`;

/** The processes lose their connections for a moment. */
export const backUp = (database = gatewayDatabase()): Promise<void> =>
  onServer(database, async (run) => {
    const [name, backup] = [nameOf(database), backupName(database)];
    await run(`drop database if exists ${backup} with (force)`);
    await run(`alter database ${name} allow_connections false`);
    try {
      await run(closeConnections(name));
      await run(`create database ${backup} template ${name} strategy file_copy owner ${new URL(database.url).username}`);
    } finally {
      await run(`alter database ${name} allow_connections true`);
    }
    // rights on the database itself are not copied
    await run(`revoke connect, temporary on database ${backup} from public`);
    if (database.logins.length > 0) await run(`grant connect on database ${backup} to ${database.logins.join(', ')}`);
  });

/** What was committed since the backup is lost. */
export const restore = (database = gatewayDatabase()): Promise<void> =>
  onServer(database, async (run) => {
    const name = nameOf(database);
    await run(`alter database ${name} allow_connections false`);
    await run(closeConnections(name));
    await run(`drop database ${name} with (force)`);
    await run(`alter database ${backupName(database)} rename to ${name}`);
  });
