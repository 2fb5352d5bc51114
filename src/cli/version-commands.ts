import type { Command } from 'commander';
import { ConfigError, readConfig } from '../platform/config';
import { hasReason } from './confirmation';
import { integer, toBuild } from './options';
import { print, printRow, printRows } from './output';
import { type ChangedRuns, PinnedRuns } from './pinned-runs';
import type { Run } from './run';
import { workerQueues } from '../messages/task-queues';
import { CommandFailed, type Session } from './session';
import { unversioned, type WorkerVersion, WorkerVersions } from './worker-versions';

const toRow = ({ build, ...version }: WorkerVersion) => ({ build: build ?? unversioned, ...version });

function readDeploymentName(): string {
  const { TEMPORAL_DEPLOYMENT_NAME: name } = readConfig(['TEMPORAL_DEPLOYMENT_NAME']);
  if (!name) throw new ConfigError('TEMPORAL_DEPLOYMENT_NAME is required: that of the workers');
  return name;
}

const versionsOf = ({ database, temporal }: Session): WorkerVersions =>
  new WorkerVersions(database, temporal, readDeploymentName());
const pinnedRunsOf = ({ database, temporal }: Session): PinnedRuns => new PinnedRuns(database, temporal, readDeploymentName());

/** Those of the chains of the `gateway` command, which are those of the workers. */
const queues = () => workerQueues(readConfig(['CHAINS']).CHAINS.split(','));

interface PinOptions {
  all?: true;
  reason?: string;
}

/** @throws CommandFailed unless there are either named runs or --all. */
function toRequest(build: string, runs: string[], { all, reason }: PinOptions) {
  if (runs.length > 0 === (all === true)) throw new CommandFailed('name the runs, or give --all instead');
  return { build, runs: all ? ('all' as const) : runs, reason };
}

/** @throws what the command was ended by, and CommandFailed when runs could not be pinned. */
function showChanged({ runs, moved, isComplete, failure }: ChangedRuns, build: string, json: boolean): void {
  if (failure && runs.length + moved.length === 0) throw failure;
  const more = failure ? ', before the command was ended' : isComplete ? '' : ', and there are more: repeat the command';
  if (json) print(JSON.stringify({ runs, moved, is_complete: isComplete }, null, 2));
  else print([...runs, `${runs.length} runs${more}`].join('\n'));
  if (failure) throw failure;
  if (moved.length === 0) return;
  throw new CommandFailed(
    `not pinned, since they have come to another build, where they wait if it does not know their steps: ${moved.join(', ')}; ` +
      `\`set-current ${build}\` takes them back`,
  );
}

/** temporal versions, set-current, set-ramp, pin, unpin */
export function addVersionCommands(temporalCommand: Command, run: Run): void {
  temporalCommand
    .command('versions')
    .description('the builds of the worker, which of them gets the work, and how many runs are open on each')
    .action(run(async (session) => printRows((await versionsOf(session).list()).map(toRow), session.json)));
  temporalCommand
    .command('set-current')
    .argument('<build>', 'as `temporal versions` lists them', toBuild)
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
      run(async (session, build: string, { wait }: { wait: number }) => {
        const { json } = session;
        await versionsOf(session).setCurrent(build === unversioned ? null : build, queues(), wait * 1_000);
        if (json) printRow({ current: build }, json);
        else print(`current: ${build}`);
      }),
    );
  temporalCommand
    .command('set-ramp')
    .description('a share of new runs begins on this build, and as many of those that are not pinned go on there')
    .argument('<build>', 'as `temporal versions` lists them', toBuild)
    .argument('<percent>', '0 ends the ramp', integer(0, 100))
    .action(
      run(async (session, build: string, percent: number) => {
        const { json } = session;
        if (build === unversioned) throw new CommandFailed('a ramp leads to a build');
        await versionsOf(session).setRamp(build, percent, queues());
        if (json) printRow({ ramping: percent === 0 ? null : build, percent }, json);
        else print(percent === 0 ? 'no ramp' : `ramping: ${build}, ${percent} %`);
      }),
    );
  pinning(temporalCommand.command('pin'))
    .description(
      'open runs go on on this build of the worker alone, whichever is current; refused unless its workers ask for work',
    )
    .action(
      run(async (session, build: string, runs: string[], options: PinOptions) => {
        const request = toRequest(build, runs, options);
        await versionsOf(session).expectServed(build, queues());
        showChanged(await pinnedRunsOf(session).pin(request), build, session.json);
      }),
    );
  pinning(temporalCommand.command('unpin'))
    .description('takes `pin` back: the runs go on on the build that is current')
    .action(
      run(async (session, build: string, runs: string[], options: PinOptions) =>
        showChanged(await pinnedRunsOf(session).unpin(toRequest(build, runs, options)), build, session.json),
      ),
    );
}

const pinning = (command: Command): Command =>
  hasReason(
    command
      .argument('<build>', 'as `temporal versions` lists them', toBuild)
      .argument('[runs...]', 'ids of transactions or of workflows')
      .option('--all', 'every run on this build, but followers'),
  );
