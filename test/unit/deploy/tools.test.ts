import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { projectRoot } from '../../../dev/paths';

/** `npm run test:deploy` on a machine that lacks what it needs: a sentence, exit code 3, and a test that counts as skipped. */

const folder = mkdtempSync(path.join(tmpdir(), 'tools-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const isRoot = process.getuid?.() === 0;

/** @param programs those that the machine has */
function run(programs: readonly string[]) {
  const bin = mkdtempSync(path.join(folder, 'bin-'));
  for (const name of programs) {
    writeFileSync(path.join(bin, name), '');
    chmodSync(path.join(bin, name), 0o755);
  }
  const counts = path.join(bin, 'counts');
  const env = { PATH: bin, HOME: folder, TEST_COUNTS_FILE: counts };
  const { status, stderr } = spawnSync(process.execPath, [path.join(projectRoot, 'test/deploy/run.mjs')], {
    env,
    encoding: 'utf8',
  });
  return { status, stderr: stderr.trim(), counted: JSON.parse(readFileSync(counts, 'utf8')) as object };
}

const asRoot = isRoot ? it : it.skip;
const asUser = isRoot ? it.skip : it;

asRoot.each([
  [
    [],
    'it needs buildah (Debian package buildah) and debootstrap (Debian package debootstrap) and ip (Debian package iproute2) and ' +
      'iptables (Debian package iptables) and ' +
      'nsenter (Debian package util-linux) and flock (Debian package util-linux) and openssl (Debian package openssl) and npm (Debian package npm) and go (Debian package golang, version 1.24 or later)',
  ],
  [
    ['buildah', 'debootstrap', 'ip', 'iptables', 'nsenter', 'flock', 'openssl', 'npm'],
    'it needs go (Debian package golang, version 1.24 or later)',
  ],
] as [string[], string][])('with %j it says what is missing (checked with the rights of root)', (programs, what) => {
  const message = `The deployment was not tested: ${what}.`;
  expect(run(programs)).toEqual({
    ...{ status: 3, stderr: message },
    counted: expect.objectContaining({ passed: 0, failed: 0, skipped: 1, notRun: [message] }),
  });
});

asUser('without the rights of root it says that it needs them', () => {
  expect(run([])).toMatchObject({
    status: 3,
    stderr: expect.stringMatching(/^The deployment was not tested: it needs (root|Linux)/),
  });
});
