import type { Command } from 'commander';
import { printNames } from './output';
import type { Run } from './run';
import { registerSearchAttributes } from './search-attributes';

/** temporal */
export function addTemporalCommands(program: Command, run: Run): void {
  program
    .command('temporal')
    .description('the workflow service')
    .command('setup')
    .description('register the search attributes')
    .action(
      run(async ({ temporal, json }) => {
        const added = await registerSearchAttributes(temporal);
        printNames(added, json, { some: 'registered', none: 'all search attributes are registered' });
      }),
    );
}
