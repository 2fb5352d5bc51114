import { execFileSync } from 'node:child_process';
import { accessSync, chmodSync, constants, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { randomPassword } from '../../src/cli/setup/new-secrets';
import { isPostgresReady, postgresHome, preparePostgres } from '../../dev/postgres';
import { projectRoot } from '../../dev/paths';
import { freePort } from '../../dev/ports';
import { endProcess, logTail, processIdentity, spawnLogged, until } from '../../dev/processes';
import { Reaper } from '../../dev/reaper';
import { findTemporalCli } from '../../dev/temporal-cli';
import { createTemplateDatabase } from './database';
import { prepareBtcd } from './prepare-btcd';

/** Set-up that the integration tests share. */
export default async function setUp(): Promise<void> {
  // some tests start the compiled workflows
  execFileSync(process.execPath, [path.join(projectRoot, 'scripts', 'build.mjs')], {
    cwd: projectRoot,
    stdio: 'inherit',
    timeout: 180_000,
  });
  // may have to be built, which takes minutes: longer than the time-out of a test
  await findTemporalCli((text) => process.stderr.write(`${text}\n`));
  await prepareBtcd();
  await startPostgres();
}

const memoryFolder = '/dev/shm';
/** Most tests have a database of 12 MB, which is gone with them; one inserts ten million rows. */
const neededBytes = 6 * 2 ** 30;

/** Where a copy of the template costs a tenth: it has 700 files, which a file system on a disk takes some 300 ms of processor time to create. */
function databaseFolder(): string {
  try {
    accessSync(memoryFolder, constants.W_OK);
    const { bavail, bsize } = statfsSync(memoryFolder);
    return Math.min(bavail * bsize, process.availableMemory()) >= neededBytes ? memoryFolder : tmpdir();
  } catch {
    return tmpdir();
  }
}

/** One real Postgres for the whole run, without fsync; it ends with the run (see Reaper). */
async function startPostgres(): Promise<void> {
  const folder = mkdtempSync(path.join(databaseFolder(), 'custody-gateway-test-'));
  // as root, Postgres runs as another user, who needs access to the folder
  chmodSync(folder, 0o755);
  const reaper = new Reaper();
  reaper.removeAtEnd(folder);
  const server = await preparePostgres({ folder, port: await freePort(), superuserPassword: randomPassword(), throwaway: true });
  if (postgresHome(folder) !== folder) reaper.removeAtEnd(postgresHome(folder));

  const logFile = path.join(folder, 'postgres.log');
  const child = spawnLogged(server, logFile);
  const pid = child.pid ?? 0;
  const identity = processIdentity(pid) ?? '';
  child.unref();
  reaper.watch(pid, 'SIGINT');
  if (!(await until(() => isPostgresReady(server.superuserUrl), 30_000))) {
    throw new Error(`the test Postgres did not start:\n${logTail(logFile)}`);
  }

  process.env.TEST_POSTGRES_URL = server.superuserUrl;
  process.env.TEST_POSTGRES_TEMPLATE = await createTemplateDatabase(server.superuserUrl);
  (globalThis as { stopTestPostgres?: () => Promise<void> }).stopTestPostgres = async () => {
    await endProcess(pid, identity, 'SIGINT', 10_000);
    for (const used of new Set([folder, postgresHome(folder)])) rmSync(used, { recursive: true, force: true });
    reaper.dismiss();
  };
}
