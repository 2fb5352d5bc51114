import { type ChildProcess, execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Client } from 'pg';
import { findBuiltComposeLoader } from '../../../dev/compose-loader';
import { projectRoot } from '../../../dev/paths';
import { freePort } from '../../../dev/ports';
import { preparePostgres } from '../../../dev/postgres';
import { logTail, spawnLogged, until } from '../../../dev/processes';
import { loadRegistry } from '../../../src/chains/registry';
import { setUpFiles } from '../../../src/cli/setup/deployment-files';
import { randomPassword } from '../../../src/cli/setup/new-secrets';
import { type Loaded, loadCompose } from '../../unit/deploy/load-compose';
import { commandsOf, forNode } from '../../unit/deploy/machines';
import { readVariables } from '../../unit/deploy/resolve';

/**
 * deploy/node.compose.yml without containers: its job at a Postgres of its own, and the program of the node with the variables and the files that
 * the file gives it. `npm run test:deploy` runs both in their images.
 */

const program = findBuiltComposeLoader();
const index = 2;
const login = 'gateway_mpc_2';
const startTimeoutMs = 60_000;
let folder: string;
let services: Record<string, Loaded>;
let server: { url: URL; binaries: string };
const children: ChildProcess[] = [];
const inFolder = (...names: string[]) => path.join(folder, ...names);

/** Postgres asks for passwords, as that of the image does. */
async function startPostgres(): Promise<typeof server> {
  const superuserPassword = randomPassword();
  const prepared = await preparePostgres({
    folder: inFolder('server'),
    port: await freePort(),
    superuserPassword,
    throwaway: true,
  });
  children.push(spawnLogged(prepared, inFolder('postgres.log')));
  const url = new URL(prepared.superuserUrl);
  const answers = () =>
    sql('select 1').then(
      () => true,
      () => false,
    );
  server = { url, binaries: path.dirname(prepared.command) };
  if (!(await until(answers, startTimeoutMs))) throw new Error(logTail(inFolder('postgres.log')));
  return server;
}

async function sql(text: string, given: Partial<Pick<URL, 'username' | 'password' | 'pathname'>> = {}): Promise<object[]> {
  const client = new Client({ connectionString: Object.assign(new URL(server.url), given).toString() });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<object>(text)).rows;
  } finally {
    await client.end();
  }
}

/** The service `databases`. */
function makeDatabases(): void {
  const { entrypoint, command, environment } = services.databases ?? {};
  const [shell = '', ...words] = [...(entrypoint ?? []), ...(command ?? [])];
  execFileSync(
    shell,
    words.map((word) => word.replaceAll('/run/secrets', inFolder('secrets/postgres'))),
    {
      stdio: 'pipe',
      env: {
        ...environment,
        PGHOST: server.url.hostname,
        PGPORT: server.url.port,
        PATH: `${server.binaries}${path.delimiter}${process.env.PATH ?? ''}`,
      },
    },
  );
}

const isRefused = (given: Parameters<typeof sql>[1]) => expect(sql('select 1', given)).rejects;

(program ? describe : describe.skip)("a node's machine (skipped where the loader of Docker Compose is not built)", () => {
  let password: string;

  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'node-machine-'));
    chmodSync(folder, 0o755);
    const env = readVariables(forNode(index, commandsOf('nodeenv')));
    const files = [path.join(projectRoot, env.COMPOSE_FILE ?? '')];
    ({ services } = await loadCompose(program ?? '', files, { cwd: folder, env: { ...env, GATEWAY_ENV: 'sandbox' } }));
    await startPostgres();
    mkdirSync(inFolder('secrets/postgres'), { recursive: true });
    password = randomPassword();
    writeFileSync(inFolder('secrets/postgres/password'), `${server.url.password}\n`);
    writeFileSync(inFolder('secrets/postgres/database_password'), `${password}\n`);
  });
  afterAll(async () => {
    for (const child of children.splice(0).reverse()) {
      child.kill('SIGTERM');
      await until(() => child.exitCode !== null || child.signalCode !== null, 20_000);
    }
    rmSync(folder, { recursive: true, force: true });
  });

  it('has a login and a database that no other login reaches, and is changed by no repetition', async () => {
    makeDatabases();
    const [made] = await sql(`select rolsuper, rolcreatedb, rolcreaterole from pg_roles where rolname = '${login}'`);
    expect(made).toEqual({ rolsuper: false, rolcreatedb: false, rolcreaterole: false });
    const own = { username: login, password, pathname: `/${login}` };
    await sql('create table kept (id int)', own);
    await sql(`create role other login password '${password}'`);
    await isRefused({ ...own, username: 'other' }).toThrow(/permission denied for database/);
    await isRefused({ ...own, password: 'wrong' }).toThrow(/password authentication failed/);
    makeDatabases();
    expect(await sql('select * from kept', own)).toEqual([]);
    await sql('drop table kept', own);
  });

  it('a database that is missing is made again, and another password is refused and not shown', async () => {
    await sql(`drop database ${login} with (force)`);
    makeDatabases();
    await sql('select 1', { username: login, password, pathname: `/${login}` });
    const file = inFolder('secrets/postgres/database_password');
    writeFileSync(file, 'another0password');
    try {
      expect(makeDatabases).toThrow(/password authentication failed for user "gateway_mpc_2"/);
      await sql(`drop database ${login} with (force)`);
      await sql(`drop role ${login}`);
    } finally {
      writeFileSync(file, `${password}\n`);
    }
    makeDatabases();
    for (const secret of [password, 'another0password', server.url.password])
      expect(readFileSync(inFolder('postgres.log'), 'utf8')).not.toContain(secret);
  });

  it('the node starts with the variables and files that it is given, migrates its database and makes its mark', async () => {
    const root = inFolder('files');
    await setUpFiles({ root, environment: 'sandbox', registry: loadRegistry('sandbox', ['ethereum', 'base']) });
    const own = path.join(root, `mpc-node-${index}`);
    chmodSync(path.join(own, 'database_url'), 0o600);
    writeFileSync(path.join(own, 'database_url'), `postgres://${login}:${password}@${server.url.host}/${login}`);
    mkdirSync(inFolder('mark'));
    const { environment = {}, command } = services['mpc-node'] ?? {};
    const ports = { MPC_NODE_LISTEN_PORT: String(await freePort()), METRICS_PORT: String(await freePort()) };
    const env = Object.fromEntries(
      Object.entries({ ...environment, ...ports, MPC_NODE_LISTEN_HOST: '127.0.0.1', METRICS_HOST: '127.0.0.1' }).map(
        ([name, value]) => [name, value.replace('/run/secrets', own).replace('/var/lib/mpc-node', inFolder('mark'))],
      ),
    );
    const [, ...words] = command ?? [];
    children.push(spawnLogged({ command: process.execPath, args: words, env, cwd: projectRoot }, inFolder('node.log')));
    const checks = async (): Promise<object> => {
      const answer = await fetch(`http://127.0.0.1:${ports.METRICS_PORT}/health/ready`);
      return ((await answer.json()) as { checks: object }).checks;
    };
    let last: object = {};
    const isUp = async () => {
      last = await checks().catch(() => ({}));
      return 'journal' in last && last.journal === true;
    };
    if (!(await until(isUp, startTimeoutMs, 500)))
      throw new Error(`${JSON.stringify(last)}\n${logTail(inFolder('node.log'), 20)}`);
    // no Temporal and no peers here
    expect(last).toEqual({ database: true, journal: true, temporal: false, peers: 'none reachable' });
    const mark = inFolder('mark/journal-mark.json');
    expect([existsSync(mark), statSync(mark).size > 0]).toEqual([true, true]);
    expect(
      await sql('select count(*)::int > 0 as migrated from pg_tables', { username: login, password, pathname: `/${login}` }),
    ).toEqual([{ migrated: true }]);
  });
});
