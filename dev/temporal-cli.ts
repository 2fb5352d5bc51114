import { execFile, spawn } from 'node:child_process';
import { accessSync, constants, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { Connection } from '@temporalio/client';
import { searchAttributes } from '../src/messages/progress';
import type { Command } from './processes';

const run = promisify(execFile);

/** The last version that `go install` accepts (later ones have a replace directive). */
const goPackage = 'github.com/temporalio/cli/cmd/temporal@v1.5.1';
const downloadTimeoutMs = 30_000;
const buildTimeoutMs = 15 * 60_000;

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
  const { TEMPORAL_CLI, PATH } = process.env;
  if (TEMPORAL_CLI) {
    if (!isExecutable(TEMPORAL_CLI)) throw new Error(`TEMPORAL_CLI is ${TEMPORAL_CLI}, which is not an executable file`);
    return TEMPORAL_CLI;
  }
  const onPath = (PATH ?? '')
    .split(path.delimiter)
    .filter(Boolean)
    .map((folder) => path.join(folder, 'temporal'));
  const found = [...onPath, ...cached()].find(isExecutable);
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

export function temporalCommand(cli: string, { port, uiPort, databaseFile }: TemporalOptions): Command {
  mkdirSync(path.dirname(databaseFile), { recursive: true });
  const attributes = Object.values(searchAttributes).flatMap(({ name }) => ['--search-attribute', `${name}=Keyword`]);
  return {
    command: cli,
    args: [
      ...['server', 'start-dev', '--ip', '127.0.0.1', '--port', String(port), '--ui-port', String(uiPort)],
      ...['--db-filename', databaseFile, '--log-level', 'warn', ...attributes],
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

/** Outside node_modules, so that `npm ci` does not delete a build that took minutes. */
function cacheFolder(): string {
  return path.join(process.env.XDG_CACHE_HOME || path.join(homedir(), '.cache'), 'custody-gateway', 'bin');
}

function cached(): string[] {
  const folder = cacheFolder();
  if (!existsSync(folder)) return [];
  // the SDK's download has a version in its name
  return readdirSync(folder)
    .filter((name) => /^temporal[^.]*(\.exe)?$|^temporal-.*\d$/.test(name))
    .map((name) => path.join(folder, name));
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** In a separate process, since the download of the SDK cannot be cancelled. */
async function downloadWithSdk(progress: (text: string) => void): Promise<void> {
  progress('downloading the Temporal CLI');
  const folder = cacheFolder();
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

async function buildWithGo(progress: (text: string) => void): Promise<void> {
  const folder = cacheFolder();
  const version = await run('go', ['env', 'GOVERSION'], { timeout: 10_000 }).then(
    ({ stdout }) => stdout.trim(),
    () => null,
  );
  if (!version) throw new Error(`go install ${goPackage}: Go is not installed`);
  const startedAt = Date.now();
  const report = () =>
    progress(
      `building the Temporal CLI with ${version} (2 to 4 minutes, once): ${Math.round((Date.now() - startedAt) / 1000)} s`,
    );
  report();
  const timer = setInterval(report, 10_000);
  try {
    await new Promise<void>((resolve, reject) => {
      const child = spawn('go', ['install', goPackage], {
        env: { ...process.env, GOBIN: folder },
        stdio: ['ignore', 'ignore', 'pipe'],
        timeout: buildTimeoutMs,
      });
      let errors = '';
      child.stderr.on('data', (chunk: Buffer) => (errors = (errors + chunk.toString()).slice(-2_000)));
      child.once('error', reject);
      child.once('exit', (code, signal) => {
        if (code === 0) return resolve();
        const reason = signal
          ? `ended by ${signal} after ${Math.round((Date.now() - startedAt) / 1000)} s`
          : (errors.trim().split('\n').pop() ?? '');
        reject(new Error(`go install ${goPackage}: ${reason}`));
      });
    });
  } finally {
    clearInterval(timer);
  }
}
