import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { shellBlocks } from '../documents/shell-blocks';
import { CountedPrograms } from './counted-programs';
import { commandsOf, folders } from './machines';

/**
 * The code of docs/deployment.md that replaces passwords, where one of its commands fails; `npm run test:deploy` runs it as a whole. The programs on
 * PATH write down their words and are counted. In place of the engine is one that runs the scripts on files of this test; the superuser logs in to a
 * server that is one file for each login.
 */

let root: string;
let counted: CountedPrograms;
let count = 0;
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'passwords-'));
  counted = new CountedPrograms(root, { docker: engine, psql }, programs);
  const old = { superuser: secret(), worker: secret(), temporal: secret(), node: secret() };
  for (const [name, content] of Object.entries({
    'server/postgres': old.superuser,
    'server/gateway_worker_login': old.worker,
    'server/temporal': old.temporal,
    'server/gateway_mpc_1': old.node,
    'secrets/postgres/password': old.superuser,
    'secrets/databases/superuser_password': old.superuser,
    'secrets/databases/superuser_url': `postgres://postgres:${old.superuser}@postgres:5432/postgres`,
    'secrets/worker/database_url': workerUrl(old.worker),
    'secrets/databases/worker_url': workerUrl(old.worker),
    'secrets/temporal/server.yaml': serverYaml(old.temporal),
    'secrets/temporal/database_password': old.temporal,
    'secrets/temporal-schema/password': old.temporal,
    'secrets/databases/temporal_password': old.temporal,
    // of a node's machine, whose other files are not read here
    'secrets/mpc-node/database_url': nodeUrl(old.node),
    'secrets/postgres/database_password': old.node,
  })) {
    mkdirSync(path.dirname(inRoot(name)), { recursive: true });
    writeFileSync(inRoot(name), `${content}\n`, { mode: 0o600 });
  }
  mkdirSync(inRoot('checkout'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const inRoot = (...names: string[]) => path.join(root, ...names);
const read = (name: string) => readFileSync(inRoot(name), 'utf8').trimEnd();
const secret = () => `${String((count += 1)).padStart(4, '0')}abcdef0123456789abcdef0123456789abcdef012345`;
const workerUrl = (password: string) => `postgres://gateway_worker_login:${password}@postgres:5432/gateway?sslmode=verify-full`;
const nodeUrl = (password: string) => `postgres://gateway_mpc_1:${password}@postgres:5432/gateway_mpc_1`;
const serverYaml = (password: string) =>
  [
    'log: { level: warn }',
    'a:',
    `        password: ${password}`,
    '        maxConns: 20',
    'b:',
    `        password: ${password}`,
  ].join('\n');

/** `sed` and `tee` are not used now: their words would be looked at, as those of the others. */
const programs = ['docker', 'psql', 'openssl', 'cat', 'cp', 'mv', 'rm', 'sed', 'sync', 'tee'];
const psql = `#!/bin/bash
[ "$PGPASSWORD" = "$(< "$ROOT/server/postgres")" ] || exit 2
input=$(/bin/cat)
[ -n "$input" ] || exit 0
wanted="set log_min_error_statement = panic; alter role ([a-z_1]+) password '([a-z0-9]{48})'"
[[ $input =~ ^\\ *$wanted$ ]] || { echo "not known: $input" >&2; exit 3; }
echo "\${BASH_REMATCH[2]}" > "$ROOT/server/\${BASH_REMATCH[1]}"
`;
const engine = `#!/bin/bash
umask 022
same() { for file in "$@"; do [ "$(< "$ROOT/secrets/$file")" = "$(< "$ROOT/secrets/$1")" ] || { echo "$file differs" >&2; exit 1; }; done; }
logs_in() { [ "$2" = "$(< "$ROOT/server/$1")" ] || { echo "$1 is refused" >&2; exit 1; }; }
url_of() { [[ $(< "$ROOT/secrets/$2") =~ ^postgres://$1:([a-z0-9]{48})@postgres:5432/[a-z]+ ]] && logs_in "$1" "\${BASH_REMATCH[1]}" || { echo "$2" >&2; exit 1; }; }
case $* in
  'compose exec -T postgres sh -'*) exec /bin/sh "$6" "\${7//\\/run\\/secrets/$ROOT/secrets/postgres}" "\${@:8}" ;;
  'compose run --rm --no-deps -T --entrypoint sh setup -euc '*)
    # what writes is stopped there; the programs that are counted write too
    [ -z "$FULL_DISK" ] || { ulimit -f 0 -c 0; PATH=/usr/bin:/bin; }
    exec /bin/sh -euc "\${10//\\/secrets/$ROOT/secrets}" "\${@:11}" ;;
  'compose run --rm --no-deps -T setup')
    same postgres/password databases/superuser_password; same worker/database_url databases/worker_url ;;
  'compose run --rm --no-deps databases' | 'compose run --rm --no-deps -T databases')
    if [ -e "$ROOT/secrets/databases" ]; then
      url_of postgres databases/superuser_url; url_of gateway_worker_login databases/worker_url
      logs_in temporal "$(< "$ROOT/secrets/databases/temporal_password")"
    else
      # of a node's machine
      logs_in postgres "$(< "$ROOT/secrets/postgres/password")"; url_of gateway_mpc_1 mpc-node/database_url
      logs_in gateway_mpc_1 "$(< "$ROOT/secrets/postgres/database_password")"
    fi ;;
  'compose restart '* | 'compose up -d --no-deps --wait --force-recreate '*) echo "\${@: -1}" > "$ROOT/replaced" ;;
  *) echo "not known: $*" >&2; exit 1 ;;
esac
`;

/**
 * @param failing number of the command that fails; the state is then the one after the command before it
 * @returns what the code printed for people when it failed; null when it ended well
 */
function run(section: string, { failing = 0, hasFullDisk = false } = {}): string | null {
  const onMachines = ofMachines[section as keyof typeof ofMachines];
  if (onMachines) rmSync(inRoot('secrets', onMachines.isNode ? 'databases' : 'mpc-node'), { recursive: true, force: true });
  const [block] = shellBlocks('docs/deployment.md').filter((it) => it.section === section);
  const code = onMachines === undefined ? block?.code : `${commandsOf('machinefile')}\n${commandsOf(onMachines.who)}`;
  const here = (code ?? 'exit 1').replaceAll(folders.secrets, inRoot('secrets'));
  return counted.run(here, inRoot('checkout'), { failing, env: { FULL_DISK: hasFullDisk ? '1' : '' } });
}

const places = {
  "The password of Temporal's databases": {
    login: 'temporal',
    files: ['databases/temporal_password', 'temporal-schema/password', 'temporal/database_password', 'temporal/server.yaml'],
    has: (password: string, file: string) => (file.endsWith('.yaml') ? serverYaml(password) : password),
  },
  'Another database password': {
    login: 'gateway_worker_login',
    files: ['databases/worker_url', 'worker/database_url'],
    has: workerUrl,
  },
  "The password of Postgres' superuser": {
    login: 'postgres',
    files: ['databases/superuser_password', 'databases/superuser_url', 'postgres/password'],
    has: (password: string, file: string) =>
      file.endsWith('url') ? `postgres://postgres:${password}@postgres:5432/postgres` : password,
  },
};
/** Each file is on the machine, and written there. `who`: the word after `sh`. `replaced`: the process that reads the new one. */
const ofMachines = {
  'several machines: a login of a node': {
    ...{ who: 'nodelogin', isNode: true, replaced: 'mpc-node', login: 'gateway_mpc_1' },
    files: ['mpc-node/database_url', 'postgres/database_password'],
    has: (password: string, file: string) => (file.endsWith('url') ? nodeUrl(password) : password),
  },
  'several machines: a login of the gateway': {
    ...places['Another database password'],
    ...{ who: 'gatewaylogin', isNode: false, replaced: 'worker' },
  },
  'several machines: the superuser of the gateway': {
    ...places["The password of Postgres' superuser"],
    ...{ who: 'superuser', isNode: false, replaced: null },
  },
  'several machines: the superuser of a node': {
    ...{ who: 'superuser', isNode: true, replaced: null, login: 'postgres', files: ['postgres/password'] },
    has: (password: string) => password,
  },
  'several machines: Temporal': {
    ...places["The password of Temporal's databases"],
    ...{ who: 'temporalpassword', isNode: false, replaced: 'temporal' },
  },
};
const all = { ...places, ...ofMachines };
type Section = keyof typeof all;
const sections = Object.keys(places) as (keyof typeof places)[];

/** Server and files have one new password, and nothing else is left. */
function expectReplaced(section: Section, before: string): void {
  const { login, files, has } = all[section];
  const password = read(`server/${login}`);
  expect([password === before, password]).toEqual([false, expect.stringMatching(/^[0-9a-f]{48}$/)]);
  for (const file of files) {
    expect([file, read(`secrets/${file}`)]).toEqual([file, has(password, file)]);
    expect([file, statSync(inRoot('secrets', file)).mode & 0o777]).toEqual([file, 0o600]);
  }
  const left = readdirSync(inRoot('secrets'), { recursive: true, encoding: 'utf8' }).filter((it) => it.endsWith('.new'));
  expect([...readdirSync(inRoot('checkout')), ...left]).toEqual([]);
}

describe.each(Object.keys(all) as Section[])('%s', (section) => {
  const { login, files } = all[section];
  const onMachines = ofMachines[section as keyof typeof ofMachines];

  it('is replaced, and repeated wherever a command has failed', () => {
    const first = read(`server/${login}`);
    expect(run(section)).toBe(null);
    expectReplaced(section, first);
    if (onMachines?.replaced) expect(read('replaced')).toBe(onMachines.replaced);
    const commands = counted.count;
    expect(commands).toBeGreaterThan(8);
    let passed = 0;
    for (let failing = 1; failing <= commands; failing += 1) {
      const before = read(`server/${login}`);
      if (run(section, { failing }) === null) passed += 1;
      else {
        // the superuser's is never on the server alone, until all have logged in
        if (login === 'postgres' && read(`server/${login}`) !== before)
          expect([failing, read('checkout/superuser.new')]).toEqual([failing, read(`server/${login}`)]);
        expect([failing, run(section)]).toEqual([failing, null]);
      }
      expectReplaced(section, before);
    }
    // the attempt to log in with the new password, which may fail
    expect(passed).toBe(login === 'postgres' ? 1 : 0);
    // no program was given a password, the server's or one that a file has
    const words = read('words');
    expect(words).toContain('\ncompose\n');
    expect(words.match(/[0-9a-f]{48}/g)).toBe(null);
  });

  const [damaged] = files.filter((file) => /url$|yaml$/.test(file));
  if (damaged === undefined) return;
  it.each(['', 'postgres://postgres:0123'])(
    `changes nothing of a ${damaged} of which '%s' is left, and goes on once it is restored`,
    (rest) => {
      const [whole, password] = [read(`secrets/${damaged}`), read(`server/${login}`)];
      writeFileSync(inRoot('secrets', damaged), rest);
      for (let time = 0; time < 2; time += 1) {
        expect(run(section)).toContain(`${damaged} has no password to replace`);
        expect(read(`secrets/${damaged}`)).toBe(rest);
        if (onMachines) expect(read(`server/${login}`)).toBe(password);
      }
      writeFileSync(inRoot('secrets', damaged), `${whole}\n`);
      expect(run(section)).toBe(null);
      expectReplaced(section, password);
    },
  );
});

// on several machines the shell writes by itself, beside what it has to replace
describe.each(sections)('%s', (section) => {
  const { login, files } = places[section];

  it('leaves the files as they are on a full disk', () => {
    const contents = () => files.map((file) => read(`secrets/${file}`));
    const [before, password] = [contents(), read(`server/${login}`)];
    expect(run(section, { hasFullDisk: true })).not.toBe(null);
    expect(contents()).toEqual(before);
    expect(run(section)).toBe(null);
    expectReplaced(section, password);
  });
});
