import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { shellBlocks } from '../documents/shell-blocks';
import { CountedPrograms } from './counted-programs';

/**
 * The restore of docs/deployment.md where one of its commands fails; `npm run test:deploy` restores a real dump. In place of the engine is one
 * that keeps, in files of this test, what the database has and which services run.
 */

let root: string;
let programs: CountedPrograms;
const inRoot = (...names: string[]) => path.join(root, ...names);
const services = ['api', 'authoriser', 'worker'];
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'restore-'));
  for (const folder of ['checkout', 'secrets/postgres', 'running']) mkdirSync(inRoot(folder), { recursive: true });
  programs = new CountedPrograms(root, { docker, dropdb, pg_restore: pgRestore }, names);
  writeFileSync(inRoot('secrets/postgres/password'), 'secret\n');
  writeFileSync(inRoot('database'), 'damaged\n');
  for (const name of services) writeFileSync(inRoot('running', name), '');
  writeFileSync(inRoot('checkout/gateway.dump'), 'whole');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const names = ['docker', 'dropdb', 'pg_restore', 'cat'];
const docker = `#!/bin/bash
case $* in
  'compose stop api worker authoriser') /bin/rm -f "$ROOT"/running/* ;;
  'compose exec -T postgres sh -c '*) exec /bin/sh -c "\${7//\\/run\\/secrets/$ROOT/secrets/postgres}" ;;
  'compose run --rm --no-deps databases') [ -e "$ROOT/database" ] || : > "$ROOT/database" ;;
  'compose run --rm --no-deps migrate') echo ' migrated' >> "$ROOT/database" ;;
  'compose up -d --no-deps '*)
    set -- "\${@:5}"
    for name in "\${@#--wait}"; do [ -z "$name" ] || : > "$ROOT/running/$name"; done ;;
  'compose run --rm owner reconcile') [ -e "$ROOT/running/worker" ] ;;
  *) echo "not known: $*" >&2; exit 1 ;;
esac
`;
const loggedIn = '#!/bin/bash\n[ "$PGPASSWORD" = secret ] || exit 2\n';
const dropdb = `${loggedIn}
case $* in
  '-h 127.0.0.1 -U postgres --if-exists --force gateway') /bin/rm -f "$ROOT/database" ;;
  '-h 127.0.0.1 -U postgres --force gateway') /bin/rm "$ROOT/database" ;;
  *) exit 1 ;;
esac
`;
/** Into an empty database alone, as with --exit-on-error. */
const pgRestore = `${loggedIn}
[ "$*" = '-h 127.0.0.1 -U postgres --exit-on-error -d gateway' ] && [ -e "$ROOT/database" ] && [ ! -s "$ROOT/database" ] || exit 1
dump=$(/bin/cat)
printf '%s' "$dump" > "$ROOT/database"
[ "$dump" = whole ]
`;

const block = shellBlocks('docs/deployment.md').find(({ code }) => code.includes('pg_restore'));
const restore = (options: { failing?: number; works?: boolean } = {}) =>
  programs.run(block?.code ?? 'exit 1', inRoot('checkout'), options);
const database = () => (existsSync(inRoot('database')) ? readFileSync(inRoot('database'), 'utf8') : null);
const running = () => readdirSync(inRoot('running'));

it.each([
  ['does nothing', false],
  ['ends before its answer', true],
])('wherever a command %s, nothing has started on a part of the data, and all of it is repeated', (_how, works) => {
  expect(restore()).toBe(null);
  const commands = programs.count;
  expect(commands).toBeGreaterThan(9);
  for (let failing = 1; failing <= commands; failing += 1) {
    writeFileSync(inRoot('database'), 'damaged\n');
    for (const name of services) writeFileSync(inRoot('running', name), '');
    const isFirst = failing === 1 && !works;
    // a password that was read is right, although its program has failed
    if (restore({ failing, works }) === null) expect([works, database()]).toEqual([true, 'whole migrated\n']);
    // the first one is what stops them
    if (running().length > 0 && !isFirst) expect([failing, database()]).toEqual([failing, 'whole migrated\n']);
    expect([failing, restore(), database(), running()]).toEqual([failing, null, 'whole migrated\n', services]);
  }
});

it.each([['half'], ['']])("starts nothing on a dump of which '%s' is left, and restores a whole one then", (left) => {
  writeFileSync(inRoot('checkout/gateway.dump'), left);
  expect(restore()).not.toBe(null);
  // without a dump everything stays as it was
  expect(running()).toEqual(left === '' ? services : []);
  writeFileSync(inRoot('checkout/gateway.dump'), 'whole');
  expect([restore(), database(), running()]).toEqual([null, 'whole migrated\n', services]);
});
