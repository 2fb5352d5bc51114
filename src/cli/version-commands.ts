import type { Client } from '@temporalio/client';
import type { Command } from 'commander';
import { ConfigError, readConfig } from '../platform/config';
import { integer } from './options';
import { print, printRow, printRows } from './output';
import type { Run } from './run';
import { workerQueues } from '../messages/task-queues';
import { CommandFailed } from './session';
import { type WorkerVersion, WorkerVersions } from './worker-versions';

const unversioned = 'unversioned';
const toRow = ({ build, ...version }: WorkerVersion) => ({ build: build ?? unversioned, ...version });

function versionsOf(temporal: Client): WorkerVersions {
  const { TEMPORAL_DEPLOYMENT_NAME: name } = readConfig(['TEMPORAL_DEPLOYMENT_NAME']);
  if (!name) throw new ConfigError('TEMPORAL_DEPLOYMENT_NAME is required: that of the workers');
  return new WorkerVersions(temporal, name);
}

/** Those of the chains of the `gateway` command, which are those of the workers. */
const queues = () => workerQueues(readConfig(['CHAINS']).CHAINS.split(','));

/** temporal versions, set-current, set-ramp */
export function addVersionCommands(temporalCommand: Command, run: Run): void {
  temporalCommand
    .command('versions')
    .description('the builds of the worker, which of them gets the work, and how many runs are open on each')
    .action(run(async ({ temporal, json }) => printRows((await versionsOf(temporal).list()).map(toRow), json)));
  temporalCommand
    .command('set-current <build>')
    .description(
      `new runs begin on this build of the worker, and all but pinned ones go on there; \`${unversioned}\`: on workers without one`,
    )
    .option(
      '--wait <seconds>',
      'how long to try again while Temporal does not know the build, or a task queue is not served by its workers',
      integer(0, 600),
      0,
    )
    .action(
      run(async ({ temporal, json }, build: string, { wait }: { wait: number }) => {
        await versionsOf(temporal).setCurrent(build === unversioned ? null : build, queues(), wait * 1_000);
        if (json) printRow({ current: build }, json);
        else print(`current: ${build}`);
      }),
    );
  temporalCommand
    .command('set-ramp')
    .description('a share of new runs begins on this build, and as many of those that are not pinned go on there')
    .argument('<build>')
    .argument('<percent>', '0 ends the ramp', integer(0, 100))
    .action(
      run(async ({ temporal, json }, build: string, percent: number) => {
        if (build === unversioned) throw new CommandFailed('a ramp leads to a build');
        await versionsOf(temporal).setRamp(build, percent, queues());
        if (json) printRow({ ramping: percent === 0 ? null : build, percent }, json);
        else print(percent === 0 ? 'no ramp' : `ramping: ${build}, ${percent} %`);
      }),
    );
}
