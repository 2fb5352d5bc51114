import type { Command } from 'commander';
import { migrations } from '../../migrations';
import { entities } from '../entities';
import { createDatabase } from '../platform/database';
import { printNames } from './output';
import { ownerUrl } from './owner-url';

/** migrate: the only command that runs as the owner of the schema, and without Temporal. */
export function addMigrateCommand(program: Command): void {
  program
    .command('migrate')
    .description('update the database schema, as its owner (DATABASE_OWNER_URL)')
    .action(async () => {
      const names = await migrate();
      printNames(names, program.opts<{ json?: boolean }>().json ?? false, { some: 'applied', none: 'the schema is up to date' });
    });
}

const migrationTimeoutMs = 3_600_000;

async function migrate(): Promise<string[]> {
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
    const applied = await database.runMigrations({ transaction: 'each' });
    return applied.map(({ name }) => name);
  } finally {
    await database.destroy();
  }
}
