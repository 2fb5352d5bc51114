import type { Command } from 'commander';
import { printNames } from './output';
import type { Run } from './run';

/** migrate */
export function addMigrateCommand(program: Command, run: Run): void {
  program
    .command('migrate')
    .description('update the database schema')
    .action(
      run(async ({ database, json }) => {
        const applied = await database.runMigrations({ transaction: 'each' });
        const names = applied.map(({ name }) => name);
        printNames(names, json, { some: 'applied', none: 'the schema is up to date' });
      }),
    );
}
