import { type Command, Option } from 'commander';
import { readRpcUrls } from '../../chains/config';
import { loadRegistry } from '../../chains/registry';
import { readConfig } from '../../platform/config';
import { cannotBeUndone, confirm, type Confirmation, withReason } from '../confirmation';
import { currentOperator } from '../operator';
import { print, printNames } from '../output';
import { setUpDatabases } from './databases';
import { type Authority, authorities, renewalsFile, setUpFiles } from './deployment-files';

/**
 * setup: before anything runs, and again with each update. Both commands add what is missing and change nothing that is there, but for
 * what `--renew` names: only that cannot be undone, and is asked for. There is no audit log yet, so that the files themselves keep who has renewed
 * what, and why.
 */
export function addSetupCommands(program: Command): void {
  const setup = program.command('setup').description('make what a deployment needs before it starts, where it is missing');
  const isJson = () => program.opts<{ json?: boolean }>().json ?? false;
  cannotBeUndone(setup.command('files'), `${renewalsFile}, with --renew`)
    .description('secrets, keys and certificates of all processes, in one folder for each; prints the names of the new files')
    .requiredOption('--out <folder>', 'folder that contains those of the processes')
    .addOption(
      new Option(
        '--renew <authority>',
        'give an authority a new key, and sign the certificates below it again, while nothing runs that uses them (docs/deployment.md)',
      ).choices(authorities),
    )
    .action(async ({ out, renew, ...confirmation }: { out: string; renew?: Authority } & Confirmation) => {
      const { GATEWAY_ENV, CHAINS } = readConfig(['GATEWAY_ENV', 'CHAINS']);
      const chains = CHAINS.split(',');
      const registry = loadRegistry(GATEWAY_ENV, chains);
      // asked for before anything is started, and not by each process again and again
      readRpcUrls(chains);
      if (renew)
        await confirm(`replace the key of the authority ${renew}, whose certificates are refused from then on`, confirmation);
      const renewal = { by: currentOperator().id, ...withReason(confirmation.reason) };
      const written = await setUpFiles({ root: out, environment: GATEWAY_ENV, registry, renew, renewal });
      printNames(written, isJson(), { some: 'written', none: 'all files are there' });
    });
  setup
    .command('databases')
    .description('logins, roles and databases of the gateway, the signing nodes and Temporal, as the superuser of the server')
    .requiredOption('--from <folder>', 'the folder `databases` that `gateway setup files` has written')
    .action(async ({ from }: { from: string }) => {
      const { made, leftOut } = await setUpDatabases(from);
      if (isJson()) return print(JSON.stringify({ made, left_out: leftOut }, null, 2));
      printNames(made, false, { some: 'made', none: 'all logins and databases are there' });
      for (const node of leftOut) print(`left out: ${node}`);
    });
}
