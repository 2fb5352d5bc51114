import { Client } from 'pg';
import type { DataSource } from 'typeorm';
import { openDatabase } from '../../stack/database';

/** A copy of a database as it is now. A copy has other object ids, as a restored dump has. */
export interface Backup {
  /** Connected as superuser. */
  restore(): Promise<DataSource>;
  drop(): Promise<void>;
}

async function asSuperuser(sql: string): Promise<void> {
  const admin = new Client({ connectionString: process.env.TEST_POSTGRES_URL as string });
  await admin.connect();
  await admin.query(sql).finally(() => admin.end());
}

/** Copies it; for that its connections are closed for a moment. */
export async function backUp(database: DataSource): Promise<Backup> {
  const url = new URL((database.options as { url: string }).url);
  const name = url.pathname.slice(1);
  const backup = `${name}_backup`;
  await database.destroy();
  await asSuperuser(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`);
  await asSuperuser(`create database ${backup} template ${name} strategy file_copy`);
  await database.initialize();
  const copied = Object.assign(url, { pathname: `/${backup}` }).toString();
  return {
    restore: () => openDatabase(copied, { poolSize: 5 }),
    drop: () => asSuperuser(`drop database if exists ${backup} with (force)`),
  };
}
