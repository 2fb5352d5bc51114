import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { transformFileSync } from '@swc/core';
import { processIdentity, until } from '../../../dev/processes';

jest.setTimeout(30_000);

/** A parent that starts a child, registers it with its reaper and then waits to be killed. */
function startParent(folder: string): { pid: number; childFile: string; doomed: string } {
  const { code } = transformFileSync(path.resolve(__dirname, '../../../dev/reaper.ts'), {
    swcrc: false,
    jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
    module: { type: 'commonjs' },
  });
  writeFileSync(path.join(folder, 'reaper.js'), code);
  const childFile = path.join(folder, 'child');
  const doomed = path.join(folder, 'with space');
  writeFileSync(doomed, '');
  const script = `
    const { Reaper } = require('./reaper.js');
    const spawnSleeper = () => require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: true, stdio: 'ignore' });
    const reaper = new Reaper();
    const kept = spawnSleeper();
    const dropped = spawnSleeper();
    reaper.watch(kept.pid, 'SIGTERM');
    reaper.watch(dropped.pid, 'SIGTERM');
    reaper.forget(dropped.pid);
    reaper.removeAtEnd(${JSON.stringify(doomed)});
    setTimeout(() => require('node:fs').writeFileSync(${JSON.stringify(childFile)}, kept.pid + ' ' + dropped.pid), 300);
    setInterval(() => {}, 1000);`;
  const parent = spawn(process.execPath, ['-e', script], { cwd: folder, stdio: 'ignore' });
  return { pid: parent.pid ?? 0, childFile, doomed };
}

it('ends the child processes and removes the files when its process is killed with SIGKILL', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'reaper-'));
  const { pid, childFile, doomed } = startParent(folder);
  // not before it is written to its end
  await until(() => existsSync(childFile) && /\d \d/.test(readFileSync(childFile, 'utf8')), 10_000);
  const [kept = 0, dropped = 0] = readFileSync(childFile, 'utf8').split(' ').map(Number);
  expect(processIdentity(kept)).not.toBeNull();
  process.kill(pid, 'SIGKILL');
  expect(await until(() => processIdentity(kept) === null && !existsSync(doomed), 5_000)).toBe(true);
  expect(processIdentity(dropped)).not.toBeNull();
  process.kill(dropped, 'SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});
