import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { shellBlocks } from '../documents/shell-blocks';

/** The dumps of docs/deployment.md where one of them fails; `npm run test:deploy` makes real ones. */

let root: string;
beforeEach(() => void (root = mkdtempSync(path.join(tmpdir(), 'backup-'))));
afterEach(() => rmSync(root, { recursive: true, force: true }));

const read = (name: string) => readFileSync(path.join(root, name), 'utf8');
const [block] = shellBlocks('docs/deployment.md').filter(({ code }) => code.includes('pg_dump'));

/** In place of the engine: writes half of a dump for the database that fails, as a connection that ends does. */
function backUp(content: string, failing: string): number | null {
  const docker = `docker() { printf '${content}'; test "\${@: -1}" != '${failing}' || return 1; printf ' whole'; }`;
  return spawnSync('bash', ['-c', `${docker}\n${block?.code}`], { cwd: root }).status;
}

it('a dump that fails ends the backup, and does not take the place of the one before', () => {
  expect(backUp('first', 'none')).toBe(0);
  const dumps = ['gateway.dump', 'gateway.head', 'gateway_mpc_1.dump', 'gateway_mpc_2.dump', 'gateway_mpc_3.dump'];
  expect(readdirSync(root).sort()).toEqual(dumps);
  for (const name of dumps) expect([read(name), statSync(path.join(root, name)).mode & 0o077]).toEqual(['first whole', 0]);

  expect(backUp('second', 'gateway_mpc_1')).not.toBe(0);
  expect(dumps.map(read)).toEqual(['second whole', 'second whole', 'first whole', 'first whole', 'first whole']);
  expect(read('gateway_mpc_1.dump.new')).toBe('second');

  // the head is that of the dump beside it
  expect(backUp('third', 'gateway')).not.toBe(0);
  expect(dumps.map(read)).toEqual(['second whole', 'second whole', 'first whole', 'first whole', 'first whole']);
});

it('a first dump that fails leaves nothing that looks like one', () => {
  writeFileSync(path.join(root, 'gateway.dump.new'), 'of an interrupted run');
  expect(backUp('first', 'gateway')).not.toBe(0);
  expect(readdirSync(root).sort()).toEqual(['gateway.dump.new', 'gateway.head.new']);
});
