import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { shellBlocks } from '../documents/shell-blocks';
import { CountedPrograms } from './counted-programs';

/** The code of docs/deployment.md that replaces a file of a process, where one of its commands fails; the engine is one that runs its scripts on files of this test. */

let root: string;
let programs: CountedPrograms;
const inRoot = (...names: string[]) => path.join(root, ...names);
const read = (name: string) => readFileSync(inRoot(name), 'utf8');
const former: Record<string, string> = {
  'secrets/mpc-node-1/limits.json': '{ "chains": {} }\n',
  'secrets/mpc-node-1/kek': `${'0123456789abcdef'.repeat(4)}\n`,
  'secrets/setup/environment': 'sandbox\n',
};
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'replaced-files-'));
  programs = new CountedPrograms(root, { docker }, ['docker', 'cat', 'cp', 'mv', 'sync', 'wc']);
  mkdirSync(inRoot('checkout'));
  for (const [name, content] of Object.entries(former)) {
    mkdirSync(path.dirname(inRoot(name)), { recursive: true });
    writeFileSync(inRoot(name), content, { mode: 0o600 });
  }
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const docker = `#!/bin/bash
umask 022
case $* in
  'compose run --rm --no-deps -T --entrypoint sh setup -'*)
    arguments=("\${@:10}")
    # what writes is stopped there; the programs that are counted write too
    [ -z "$FULL_DISK" ] || { ulimit -f 0 -c 0; PATH=/usr/bin:/bin; }
    # a client that ends in between closes the input
    [ -z "$CUT" ] || exec /bin/sh "$9" "\${arguments[@]//\\/secrets/$ROOT/secrets}" < <(/usr/bin/head -c "$CUT")
    exec /bin/sh "$9" "\${arguments[@]//\\/secrets/$ROOT/secrets}" ;;
  'compose up -d --no-deps --wait --force-recreate mpc-node-1') ;;
  *) echo "not known: $*" >&2; exit 1 ;;
esac
`;

const blocks = shellBlocks('docs/deployment.md');
const ofLimits = blocks.filter(({ section }) => section === 'Limits of the signing nodes').map(({ code }) => code);
const ofEnvironment = blocks.find(({ code }) => code.includes('echo production >'))?.code ?? 'exit 1';
const run = (code: string, options: Parameters<CountedPrograms['run']>[2] = {}) =>
  programs.run(code, inRoot('checkout'), options);
const left = () => readdirSync(inRoot('secrets'), { recursive: true, encoding: 'utf8' }).filter((it) => it.endsWith('.new'));

describe.each(['limits.json', 'kek'])('%s of a node', (file) => {
  const [readIt = 'exit 1', replaceIt = 'exit 1'] = ofLimits.map((code) => code.replaceAll('limits.json', file));
  const place = `secrets/mpc-node-1/${file}`;
  const content = '{ "chains": { "ethereum": {} } }\n';

  it('is read as it is, for its reader alone', () => {
    expect(run(readIt)).toBe(null);
    expect(read(`checkout/${file}`)).toBe(former[place]);
    expect(statSync(inRoot('checkout', file)).mode & 0o077).toBe(0);
  });

  it('has its former content or the new one wherever a command fails, and the code is repeated', () => {
    writeFileSync(inRoot('checkout', file), content);
    expect(run(replaceIt)).toBe(null);
    const commands = programs.count;
    expect(commands).toBeGreaterThan(7);
    for (const works of [false, true])
      for (let failing = 1; failing <= commands; failing += 1) {
        writeFileSync(inRoot(place), former[place] ?? '');
        const outcome = run(replaceIt, { failing, works });
        expect([former[place], content]).toContain(read(place));
        // a count that is there although its program has failed is right
        if (outcome === null) expect([works, read(place)]).toEqual([true, content]);
        expect([failing, run(replaceIt), read(place), left()]).toEqual([failing, null, content, []]);
        expect(statSync(inRoot(place)).mode & 0o777).toBe(0o600);
      }
    // nothing of the file is an argument of a program
    expect(read('words')).not.toContain('ethereum');
  });

  it.each([
    ['is empty', '', {}],
    ['has not arrived as a whole', content, { CUT: '5' }],
    ['finds a full disk', content, { FULL_DISK: '1' }],
  ])('stays as it was where the new one %s', (_how, given, env) => {
    writeFileSync(inRoot('checkout', file), given);
    expect(run(replaceIt, { env })).not.toBe(null);
    expect(read(place)).toBe(former[place]);
    // a process that was replaced would have read it
    if (existsSync(inRoot('words'))) expect(read('words')).not.toContain('--force-recreate');
    writeFileSync(inRoot('checkout', file), content);
    expect([run(replaceIt), read(place), left()]).toEqual([null, content, []]);
  });
});

it('the stored environment is the former or the right one, wherever a command fails', () => {
  expect([run(ofEnvironment), read('secrets/setup/environment')]).toEqual([null, 'production\n']);
  const commands = programs.count;
  for (let failing = 1; failing <= commands; failing += 1) {
    writeFileSync(inRoot('secrets/setup/environment'), 'sandbox\n');
    expect([failing, run(ofEnvironment, { failing })]).toEqual([failing, expect.any(String)]);
    expect(read('secrets/setup/environment')).toBe('sandbox\n');
    expect([failing, run(ofEnvironment), read('secrets/setup/environment'), left()]).toEqual([failing, null, 'production\n', []]);
  }
});
