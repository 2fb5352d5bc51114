import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findOnPath } from '../../../dev/binaries';
import { projectRoot } from '../../../dev/paths';
import { loadRegistry } from '../../../src/chains/registry';
import { setUpFiles } from '../../../src/cli/setup/deployment-files';
import { findKekWeakness, findPasswordWeakness } from '../../../src/cli/setup/weakness';
import { nodeIndexes } from '../../../src/messages/nodes';
import { compose } from './compose-file';
import { shellBlocks } from '../documents/shell-blocks';
import { Identity, readNodeKeys } from '../../../src/mpc/identity';
import { commandsOf, forNode, inFolders } from './machines';

const documented = readFileSync(path.join(projectRoot, 'docs/deployment.md'), 'utf8');
/** A command within a sentence. */
const commandOf = (start: string): string => {
  const [, code] = new RegExp(`\`(${start}[^\`]*)\``).exec(documented) ?? [];
  if (code === undefined) throw new Error(`docs/deployment.md has no command ${start}`);
  return code;
};

const secretFolders = Object.keys(compose.volumes)
  .filter((name) => name.startsWith('secrets-'))
  .map((name) => name.slice('secrets-'.length));
const root = mkdtempSync(path.join(tmpdir(), 'three-machines-'));
const inRoot = (...names: string[]) => path.join(root, ...names);
const read = (...names: string[]) => readFileSync(inRoot(...names), 'utf8');
const shell = (code: string, cwd: string) => execFileSync('bash', ['-euo', 'pipefail', '-c', code], { cwd, stdio: 'pipe' });
/** The command `gateway` is that of the sources under test. */
const gateway = [
  'gateway() { node "$GATEWAY" "$@"; }',
  'export GATEWAY_ENV=sandbox CHAINS=ethereum CHAIN_ETHEREUM_RPC_URLS=http://127.0.0.1:1 GATEWAY',
  `GATEWAY=${path.join(projectRoot, 'bin/gateway.js')}`,
].join('\n');
const setUp = (folder = 'deployment') =>
  setUpFiles({ root: inRoot(folder), environment: 'sandbox', registry: loadRegistry('sandbox', ['ethereum']) });
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Each file has the owner and the mode with which its process reads it, and no other user does; where the tests run as root. */
function assertFoldersAreInPlace(): void {
  const at = { secrets: inRoot('secrets'), mark: inRoot('disk/mark') };
  const place = (who: string, cwd: string) => shell(inFolders(commandsOf(who), at), cwd);
  const owners = (...names: string[]) =>
    readdirSync(inRoot(...names)).map((name) => {
      const { uid, gid, mode } = statSync(inRoot(...names, name));
      return [name, `${uid}:${gid} ${(mode & 0o7777).toString(8)}`];
    });
  shell(commandsOf('pack'), root);
  place('gatewayfolders', root);
  const processes = Object.fromEntries(owners('secrets')) as Record<string, string>;
  expect(Object.keys(processes).sort()).toEqual(secretFolders.filter((name) => !name.startsWith('mpc-node-')).sort());
  for (const [name, owner] of Object.entries(processes)) {
    const user = name === 'postgres' ? '999:999' : '1000:1000';
    expect([name, owner]).toEqual([name, expect.stringMatching(`^${user} [57]00$`)]);
    for (const [file, of] of owners('secrets', name)) expect([file, of]).toEqual([file, `${user} 400`]);
  }
  expect(statSync(at.secrets).mode & 0o077).toBe(0);
  expect(readdirSync(root).filter((name) => name.endsWith('.tar'))).toEqual(nodeIndexes.map((index) => `mpc-node-${index}.tar`));
  // once more: what is there stays
  shell(commandsOf('pack'), root);
  expect(() => place('gatewayfolders', root)).toThrow('File exists');
  rmSync(at.secrets, { recursive: true });

  const own = inRoot('operator-1');
  // what else there is in an archive replaces nothing
  const mine = ['kek', 'tls_key', 'database_url'].map((name) => read('operator-1', name));
  for (const name of ['kek', 'tls_key']) writeFileSync(inRoot('deployment', name), 'of another');
  writeFileSync(inRoot('deployment/mpc-node-1/kek'), 'of another');
  const all = ['-C', inRoot('deployment'), 'mpc-node-1', 'kek', 'tls_key'];
  execFileSync('tar', ['-cf', path.join(own, 'mpc-node-1.tar'), ...all]);
  rmSync(inRoot('deployment/mpc-node-1/kek'));
  const shown = String(shell(commandsOf('look'), own));
  expect(['kek', 'tls_key', 'database_url'].map((name) => read('operator-1', name))).toEqual(mine);
  expect(() => shell(commandsOf('look'), own)).toThrow('File exists');
  // nor is a certificate taken that is for another key
  mkdirSync(inRoot('mistaken'));
  for (const [from, name] of [
    ['operator-1/mpc-node-1.tar', 'mpc-node-1.tar'],
    ['operator-2/tls_key', 'tls_key'],
  ] as const)
    copyFileSync(inRoot(from), inRoot('mistaken', name));
  expect(() => shell(commandsOf('look'), inRoot('mistaken'))).toThrow();
  expect(shown).toContain('"ethereum"');
  expect(shown).toMatch(/^[0-9a-f]{64} /);
  mkdirSync(inRoot('disk'));
  place('nodefolders', own);
  expect(Object.fromEntries(owners('secrets'))).toEqual({ 'mpc-node': '1000:1000 500', postgres: '999:999 500' });
  const expected = [...readdirSync(inRoot('deployment/mpc-node-1')), 'kek', 'tls_key', 'database_url'];
  expect(Object.fromEntries(owners('secrets/mpc-node'))).toEqual(
    Object.fromEntries(expected.map((name) => [name, '1000:1000 400'])),
  );
  expect(Object.fromEntries(owners('secrets/postgres'))).toEqual({ password: '999:999 400', database_password: '999:999 400' });
  expect(Object.fromEntries(owners('disk'))).toEqual({ mark: '1000:1000 700' });
  const url = new URL(read('secrets/mpc-node/database_url'));
  expect([url.username, url.hostname, url.pathname]).toEqual(['gateway_mpc_1', 'postgres', '/gateway_mpc_1']);
  expect(url.password).toBe(read('secrets/postgres/database_password').trim());
}

(findOnPath('openssl') ? it : it.skip)(
  'what docs/deployment.md says for three machines makes three nodes with keys that only they have (skipped where openssl is not installed)',
  async () => {
    const [first] = shellBlocks('docs/deployment.md').filter(({ section, who }) => section === 'Files' && who === '');
    shell(`${gateway}\n${first?.code}`, root);
    shell(commandOf('cp -a'), root);
    for (const index of nodeIndexes) {
      mkdirSync(inRoot(`operator-${index}`));
      shell(forNode(index, commandsOf('operator')), inRoot(`operator-${index}`));
      copyFileSync(inRoot(`operator-${index}`, `mpc-node-${index}.csr`), inRoot(`mpc-node-${index}.csr`));
    }
    // a repeat overwrites nothing, also where only the first secrets are there
    const secrets = ['kek', 'password', 'database_password', 'database_url', 'tls_key'];
    const ofFirst = () => secrets.map((name) => read('operator-1', name));
    const [kept, request] = [ofFirst(), read('operator-1', 'mpc-node-1.csr')];
    expect(() => shell(commandsOf('operator'), inRoot('operator-1'))).toThrow('kek: cannot overwrite existing file');
    mkdirSync(inRoot('interrupted'));
    writeFileSync(inRoot('interrupted', 'tls_key'), kept[4] ?? '');
    expect(() => shell(commandsOf('operator'), inRoot('interrupted'))).toThrow('tls_key: cannot overwrite existing file');
    expect(read('interrupted', 'tls_key')).toBe(kept[4]);
    expect([ofFirst(), read('operator-1', 'mpc-node-1.csr')]).toEqual([kept, request]);
    shell(commandsOf('gateway'), root);
    for (const index of nodeIndexes) {
      const own = (name: string) => read(`operator-${index}`, name).trim();
      const given = (name: string) => read('deployment', `mpc-node-${index}`, name);
      expect([findKekWeakness(own('kek')), findPasswordWeakness(own('database_password'))]).toEqual([null, null]);
      for (const name of ['kek', 'tls_key', 'database_password'])
        expect(statSync(inRoot(`operator-${index}`, name)).mode & 0o077).toBe(0);
      for (const name of ['kek', 'tls_key', 'database_url'])
        expect(existsSync(inRoot('deployment', `mpc-node-${index}`, name))).toBe(false);
      const files = { cert: given('tls_cert'), ca: given('tls_ca'), peerCerts: given('node_certs') };
      expect(() => new Identity({ index, key: own('tls_key'), ...files })).not.toThrow();
      const other = read(`operator-${(index % 3) + 1}`, 'tls_key');
      expect(() => new Identity({ index, key: other, ...files })).toThrow();
    }
    for (const process of ['api', 'worker', 'authoriser', 'operator'])
      expect([...readNodeKeys(read('deployment', process, 'node_certs')).keys()].sort()).toEqual([1, 2, 3]);
    if (process.getuid?.() === 0) assertFoldersAreInPlace();
    // the authority of the nodes is renewed in the copy, and signs requests for the keys that the nodes have
    const renewal = `${gateway}\n${commandOf('gateway setup files --out whole')} --renew node --reason "it has leaked"`;
    const present = read('whole', 'setup/node_ca_key');
    expect(() => shell(renewal, root)).toThrow('cannot be undone: repeat the command with --yes');
    expect(read('whole', 'setup/node_ca_key')).toBe(present);
    shell(`${renewal} --yes`, root);
    expect(read('whole', 'setup/node_ca_key')).not.toBe(present);
    expect(JSON.parse(read('whole', 'setup/renewals.json'))).toEqual([
      { at: expect.any(String), authority: 'node', by: expect.any(String), stated_reason: 'it has leaked' },
    ]);
    const sign = commandsOf('gateway').replaceAll('deployment/setup/', 'whole/setup/');
    for (const index of nodeIndexes) {
      const request = commandsOf('operator').trim().split('\n').at(-1) ?? '';
      shell(forNode(index, request), inRoot(`operator-${index}`));
      copyFileSync(inRoot(`operator-${index}`, `mpc-node-${index}.csr`), inRoot(`mpc-node-${index}.csr`));
      rmSync(inRoot('deployment', `mpc-node-${index}`, 'tls_ca'));
      copyFileSync(inRoot('whole', `mpc-node-${index}`, 'tls_ca'), inRoot('deployment', `mpc-node-${index}`, 'tls_ca'));
    }
    const former = read('deployment', 'api', 'node_certs');
    shell(sign, root);
    expect(read('deployment', 'api', 'node_certs')).not.toBe(former);
    for (const index of nodeIndexes) {
      const given = (name: string) => read('deployment', `mpc-node-${index}`, name);
      const key = read(`operator-${index}`, 'tls_key').trim();
      const files = { index, key, cert: given('tls_cert'), ca: given('tls_ca'), peerCerts: given('node_certs') };
      expect(() => new Identity(files)).not.toThrow();
      expect(() => new Identity({ ...files, peerCerts: former })).toThrow();
    }
    // the identity of one node is replaced, by the commands that docs/keys.md names
    const [own, others] = ['mpc-node-1', 'mpc-node-2'].map((name) => read('deployment', name, 'tls_cert'));
    const formerKey = read('operator-1', 'tls_key').trim();
    mkdirSync(inRoot('replaced'));
    shell(`umask 077\nset -C\n${commandsOf('operator').trim().split('\n').slice(-2).join('\n')}`, inRoot('replaced'));
    copyFileSync(inRoot('replaced', 'mpc-node-1.csr'), inRoot('mpc-node-1.csr'));
    shell(sign.replace('mpc-node-1 mpc-node-2 mpc-node-3; do', 'mpc-node-1; do'), root);
    const given = (name: string) => read('deployment', 'mpc-node-1', name);
    const files = { index: 1, cert: given('tls_cert'), ca: given('tls_ca'), peerCerts: given('node_certs') } as const;
    expect(given('tls_cert')).not.toBe(own);
    expect(read('deployment', 'mpc-node-2', 'tls_cert')).toBe(others);
    expect(read('deployment', 'api', 'node_certs')).toBe(given('node_certs'));
    expect(() => new Identity({ ...files, key: read('replaced', 'tls_key').trim(), formerCerts: own })).not.toThrow();
    expect(() => new Identity({ ...files, key: formerKey })).toThrow();
    await expect(setUp()).rejects.toThrow(/mpc-node-1.* was made before and is missing now/);

    // a release that needs two more files: the copy of before gets them, and nothing else
    const later = ['api/stored_answers_key', 'operator/deployment_id'];
    for (const name of later) rmSync(inRoot('whole', name));
    const made = (JSON.parse(read('whole', 'setup/made.json')) as string[]).filter((name) => !later.includes(name));
    rmSync(inRoot('whole', 'setup/made.json'));
    writeFileSync(inRoot('whole', 'setup/made.json'), JSON.stringify(made), { mode: 0o400 });
    expect((await setUp('whole')).sort()).toEqual(later);
    expect(read('whole', 'operator/deployment_id')).toBe(read('deployment', 'authoriser/deployment_id'));
  },
);
