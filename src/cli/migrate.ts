import type { Command } from 'commander';
import type { DataSource } from 'typeorm';
import { migrations } from '../../migrations';
import { audit } from '../audit/log';
import { entities } from '../entities';
import { createDatabase } from '../platform/database';
import { cannotBeUndone, confirm, type Confirmation, hasDryRun, type Tried, withReason } from './confirmation';
import { currentOperator } from './operator';
import { printNames } from './output';
import { ownerUrl } from './owner-url';

/** migrate: the only command that runs as the owner of the schema, and without Temporal. */
export function addMigrateCommand(program: Command): void {
  hasDryRun(cannotBeUndone(program.command('migrate')), 'which migrations would be applied')
    .description('update the database schema, as its owner (DATABASE_OWNER_URL); asks before it changes one that is in use')
    .action(async (options: Confirmation & Tried) => {
      const json = program.opts<{ json?: boolean }>().json ?? false;
      const none = 'the schema is up to date';
      const names = await migrate(options);
      printNames(names, json, { some: options.dryRun ? 'would be applied' : 'applied', none });
    });
}

const migrationTimeoutMs = 3_600_000;

/** Names of the migrations that were applied, or would be. @throws CommandFailed unless an operator has agreed to them. */
async function migrate({ dryRun, ...confirmation }: Confirmation & Tried): Promise<string[]> {
  const database = await createDatabase({
    url: ownerUrl(),
    poolSize: 2,
    applicationName: 'gateway-migrate',
    entities,
    migrations,
    // an index of a large table takes as long as it takes
    statementTimeoutMs: migrationTimeoutMs,
    // what waits for a table keeps all others waiting: the command is repeated then
    lockTimeoutMs: 10_000,
  }).initialize();
  try {
    const applied = await readApplied(database);
    const pending = database.migrations
      .map(toName)
      .filter((name) => !applied.has(name))
      .sort((a, b) => toTime(a) - toTime(b));
    if (dryRun || pending.length === 0) return pending;
    // an empty database has nothing that could be lost
    if (applied.size > 0) await confirm(`apply ${pending.length} migrations to the schema: ${pending.join(', ')}`, confirmation);
    const names = (await database.runMigrations({ transaction: 'each' })).map(({ name }) => name);
    await audit(database.manager, {
      ...{ action: 'schema.migrated', outcome: 'success', actor: currentOperator(), clientId: null },
      detail: { migrations: names.length, newest: names.at(-1) ?? null, ...withReason(confirmation.reason) },
    });
    return names;
  } finally {
    await database.destroy();
  }
}

/** Writes nothing, also into an empty database. */
async function readApplied(database: DataSource): Promise<Set<string>> {
  const [found] = await database.query<{ exists: boolean }[]>(`select to_regclass('migrations') is not null as exists`);
  if (!found?.exists) return new Set();
  const rows = await database.query<{ name: string }[]>('select name from migrations');
  return new Set(rows.map(({ name }) => name));
}

/** TypeORM applies them in this order: a name ends with its time, 13 digits. */
const toTime = (name: string): number => Number(name.slice(-13));
const toName = (migration: DataSource['migrations'][number]): string => migration.name ?? migration.constructor.name;
