import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { Connection } from '@temporalio/client';
import { searchAttributes } from '../src/messages/progress';
import { binFolder, findOnPath, goInstall, isExecutable } from './binaries';
import type { Command } from './processes';

const run = promisify(execFile);

/** The last version that `go install` accepts (later ones have a replace directive). */
const goPackage = 'github.com/temporalio/cli/cmd/temporal@v1.5.1';
const downloadTimeoutMs = 30_000;

export interface TemporalOptions {
  port: number;
  uiPort: number;
  databaseFile: string;
}

/**
 * Finds the Temporal CLI, which contains the dev server: TEMPORAL_CLI, `temporal` on PATH, the cache, a download by the TypeScript SDK,
 * a build with Go.
 * @param progress called with what is in progress
 */
export async function findTemporalCli(progress: (text: string) => void): Promise<string> {
  const { TEMPORAL_CLI } = process.env;
  if (TEMPORAL_CLI) {
    if (!isExecutable(TEMPORAL_CLI)) throw new Error(`TEMPORAL_CLI is ${TEMPORAL_CLI}, which is not an executable file`);
    return TEMPORAL_CLI;
  }
  const found = findOnPath('temporal') ?? cached().find(isExecutable);
  if (found) return found;

  const reasons: string[] = [];
  for (const obtain of [downloadWithSdk, buildWithGo]) {
    try {
      await obtain(progress);
    } catch (error) {
      reasons.push((error as Error).message);
    }
    const obtained = cached().find(isExecutable);
    if (obtained) return obtained;
  }
  throw new Error(
    [
      'the Temporal CLI is missing and could not be installed:',
      ...reasons.map((reason) => `  - ${reason}`),
      'Install it (https://docs.temporal.io/cli, or Go 1.25 or later) so that `temporal` is on PATH, set TEMPORAL_CLI to its path, or set TEMPORAL_ADDRESS to a running server.',
    ].join('\n'),
  );
}

/** Builds of the worker are drained after seconds, not after minutes as by default (docs/upgrades.md). */
const drainage = {
  'matching.wv.VersionDrainageStatusVisibilityGracePeriod': '"10s"',
  'matching.wv.VersionDrainageStatusRefreshInterval': '"2s"',
};

export function temporalCommand(cli: string, { port, uiPort, databaseFile }: TemporalOptions): Command {
  mkdirSync(path.dirname(databaseFile), { recursive: true });
  const attributes = Object.values(searchAttributes).flatMap(({ name }) => ['--search-attribute', `${name}=Keyword`]);
  const settings = Object.entries(drainage).flatMap(([name, value]) => ['--dynamic-config-value', `${name}=${value}`]);
  return {
    command: cli,
    args: [
      ...['server', 'start-dev', '--ip', '127.0.0.1', '--port', String(port), '--ui-port', String(uiPort)],
      ...['--db-filename', databaseFile, '--log-level', 'warn', ...attributes, ...settings],
    ],
    env: { PATH: process.env.PATH, HOME: process.env.HOME },
  };
}

/** True once the server responds for its namespace. */
export async function isTemporalReady(address: string): Promise<boolean> {
  const connection = await Connection.connect({ address, connectTimeout: 1_000 });
  try {
    await connection.withDeadline(Date.now() + 2_000, () =>
      connection.workflowService.describeNamespace({ namespace: 'default' }),
    );
    return true;
  } finally {
    await connection.close();
  }
}

function cached(): string[] {
  const folder = binFolder();
  if (!existsSync(folder)) return [];
  // the SDK's download has a version in its name
  return readdirSync(folder)
    .filter((name) => /^temporal[^.]*(\.exe)?$|^temporal-.*\d$/.test(name))
    .map((name) => path.join(folder, name));
}

/** In a separate process, since the download of the SDK cannot be cancelled. */
async function downloadWithSdk(progress: (text: string) => void): Promise<void> {
  progress('downloading the Temporal CLI');
  const folder = binFolder();
  mkdirSync(folder, { recursive: true });
  const script = `
    const { TestWorkflowEnvironment } = require(${JSON.stringify(require.resolve('@temporalio/testing'))});
    TestWorkflowEnvironment.createLocal({ server: { executable: { type: 'cached-download', downloadDir: process.argv[1] } } })
      .then((environment) => environment.teardown()).then(() => process.exit(0), (error) => { console.error(error.message); process.exit(1); });`;
  try {
    await run(process.execPath, ['-e', script, folder], { timeout: downloadTimeoutMs, killSignal: 'SIGKILL' });
  } catch (error) {
    const { killed, stderr } = error as { killed?: boolean; stderr?: string };
    const reason = killed ? `no result within ${downloadTimeoutMs / 1000} s` : (stderr?.trim().split('\n').pop() ?? 'failed');
    throw new Error(`download by the Temporal SDK: ${reason}`);
  }
}

const buildWithGo = (progress: (text: string) => void): Promise<void> =>
  goInstall(goPackage, { what: 'the Temporal CLI', usual: '2 to 4 minutes', progress });
