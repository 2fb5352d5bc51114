import type { Command } from 'commander';
import { makeNamespace } from './namespace';
import { integer } from './options';
import { print, printNames } from './output';
import type { Run } from './run';
import { registerSearchAttributes } from './search-attributes';
import { addVersionCommands } from './version-commands';

/** Longer than a transfer takes, so that the run of one that has ended can still be looked at. */
const defaultRetentionDays = 30;

interface SetupOptions {
  createNamespace?: boolean;
  retentionDays: number;
}

/** temporal */
export function addTemporalCommands(program: Command, run: Run): void {
  const temporalCommand = program.command('temporal').description('the workflow service');
  addVersionCommands(temporalCommand, run);
  temporalCommand
    .command('setup')
    .description('register the search attributes')
    .option('--create-namespace', 'make the namespace (TEMPORAL_NAMESPACE) if it is missing; one that is there stays as it is')
    .option(
      '--retention-days <days>',
      'how long a new namespace keeps runs that have ended',
      integer(1, 3_650),
      defaultRetentionDays,
    )
    .action(
      run(async ({ temporal, json }, { createNamespace = false, retentionDays }: SetupOptions) => {
        if (createNamespace) {
          const isNew = await makeNamespace(temporal, retentionDays);
          if (isNew && !json) print(`made: namespace ${temporal.options.namespace}`);
        }
        const added = await registerSearchAttributes(temporal);
        printNames(added, json, { some: 'registered', none: 'all search attributes are registered' });
      }),
    );
}
