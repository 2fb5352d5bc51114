import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findOnPath } from '../../../dev/binaries';
import { shellBlocks } from '../documents/shell-blocks';
import { mounts, services } from './compose-file';

/** The backup of the volumes of secrets in docs/deployment.md, and its restore; `npm run test:deploy` runs them with real volumes. */

let root: string;
const inRoot = (...names: string[]) => path.join(root, ...names);
const parts = mounts(services.find(([name]) => name === 'setup')?.[1] ?? services[0]![1]).map(({ at }) => path.basename(at));
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'secrets-backup-'));
  mkdirSync(inRoot('checkout'));
  for (const part of parts) {
    mkdirSync(inRoot('secrets', part), { recursive: true });
    writeFileSync(inRoot('secrets', part, 'key'), `secret of ${part}`);
    chmodSync(inRoot('secrets', part, 'key'), 0o400);
  }
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** In place of the engine; `setup` says whether anything is missing. */
const docker = `docker() {
  case $* in
    'compose run --rm --no-deps -T --entrypoint tar setup -C '*) [ "\${10}" != "/secrets/$FAILING" ] || { printf half; return 1; }; tar -C "$ROOT\${10}" "\${@:11}" ;;
    'compose run --rm --no-deps -T setup') for folder in "$ROOT"/secrets/*; do test -s "$folder/key" || return 1; done ;;
    *) echo "not known: $*" >&2; return 1 ;;
  esac
}`;
const [make = '', backUp = '', restore = ''] = shellBlocks('docs/deployment.md')
  .filter(({ section }) => section === 'Backups on one machine')
  .map(({ code }) => code);
const run = (code: string, failing = ''): number | null =>
  spawnSync('bash', ['-c', `${docker}\n${code}`], {
    cwd: inRoot('checkout'),
    env: { PATH: process.env.PATH, ROOT: root, FAILING: failing },
    stdio: 'ignore',
  }).status;
const read = (...names: string[]) => readFileSync(inRoot(...names));
const kept = (part: string) => path.join('checkout', `${part}.secrets`);

(findOnPath('openssl') ? describe : describe.skip)('the backup of secrets (skipped where openssl is not installed)', () => {
  beforeEach(() => expect(run(make)).toBe(0));

  it('has every volume, encrypted, and gives back the files as they were', () => {
    expect(statSync(inRoot('checkout/backup_key')).mode & 0o077).toBe(0);
    expect(run(backUp)).toBe(0);
    const files = readdirSync(inRoot('checkout')).filter((name) => !name.startsWith('backup_'));
    expect(files.sort()).toEqual(parts.map((part) => `${part}.secrets`).sort());
    for (const part of parts) {
      expect(read(kept(part)).includes('secret of')).toBe(false);
      expect(statSync(inRoot(kept(part))).mode & 0o077).toBe(0);
    }
    rmSync(inRoot('secrets/mpc-node-2/key'));
    expect(run(restore)).toBe(0);
    expect(read('secrets/mpc-node-2/key').toString()).toBe('secret of mpc-node-2');
    expect(statSync(inRoot('secrets/mpc-node-2/key')).mode & 0o777).toBe(0o400);
    // what is missing elsewhere is noticed
    rmSync(inRoot('secrets/api/key'));
    expect(run(restore)).not.toBe(0);
  });

  it('that fails leaves the one before as it is', () => {
    expect(run(backUp)).toBe(0);
    const before = read(kept('worker'));
    expect(run(backUp, 'worker')).not.toBe(0);
    expect(read(kept('worker')).equals(before)).toBe(true);
  });

  it.each([
    ['changed', (content: Buffer) => content.fill(content.at(-40) === 1 ? 2 : 1, content.length - 40, content.length - 39)],
    ['cut off', (content: Buffer) => content.subarray(0, content.length - 100)],
  ])('that is %s is refused before anything is written', (_how, change) => {
    expect(run(backUp)).toBe(0);
    writeFileSync(inRoot(kept('mpc-node-2')), change(read(kept('mpc-node-2'))));
    rmSync(inRoot('secrets/mpc-node-2/key'));
    expect(run(restore)).not.toBe(0);
    expect(readdirSync(inRoot('secrets/mpc-node-2'))).toEqual([]);
  });
});
