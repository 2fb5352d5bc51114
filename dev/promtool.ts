import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder, findOnPath, isExecutable } from './binaries';

/** A package of Debian: what Go builds of the same source takes some minutes and 2 GB. */
const debianPackage = 'prometheus';
const timeoutMs = 3 * 60_000;

const unpackedFolder = (): string => path.join(cacheFolder(), 'promtool');
const unpacked = (): string => path.join(unpackedFolder(), 'usr/bin/promtool');

/** `promtool` on PATH, or what was unpacked before. */
export const findInstalledPromtool = (): string | undefined => findOnPath('promtool') ?? [unpacked()].find(isExecutable);

/**
 * The installed promtool, or that of Debian's package, which is downloaded and unpacked into a folder of this user: nothing is installed, and no
 * rights of root are needed.
 * @param progress called with what is in progress
 * @throws Error with the reason, and what to do
 * @public `.ci/run` calls it
 */
export async function findPromtool(progress: (text: string) => void): Promise<string> {
  const installed = findInstalledPromtool();
  if (installed) return installed;
  progress(`downloading Debian's package ${debianPackage} (some seconds, once)`);
  mkdirSync(cacheFolder(), { recursive: true });
  const folder = mkdtempSync(path.join(cacheFolder(), 'promtool-'));
  try {
    await unpackInto(folder);
    rmSync(unpackedFolder(), { recursive: true, force: true });
    renameSync(path.join(folder, 'files'), unpackedFolder());
  } catch (error) {
    const reason = (error as Error).message.trim().split('\n').pop();
    throw new Error(`promtool: ${reason}; install it so that it is on PATH (Debian's package ${debianPackage})`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return unpacked();
}

async function unpackInto(folder: string): Promise<void> {
  const run = promisify(execFile);
  // lists of its own: those of the machine may be old or missing, and are root's
  const [state, cache] = ['state', 'cache'].map((name) => path.join(folder, name));
  for (const name of [`${state}/lists/partial`, `${cache}/archives/partial`]) mkdirSync(name, { recursive: true });
  const own = ['-q', '-o', `Dir::State=${state}`, '-o', `Dir::Cache=${cache}`, '-o', 'APT::Sandbox::User=root'];
  await run('apt-get', [...own, 'update'], { timeout: timeoutMs });
  await run('apt-get', [...own, 'download', debianPackage], { cwd: folder, timeout: timeoutMs });
  const [archive = ''] = readdirSync(folder).filter((name) => name.endsWith('.deb'));
  await run('dpkg-deb', ['-x', path.join(folder, archive), path.join(folder, 'files')], { timeout: timeoutMs });
  // all but the one program, of 100 MB
  rmSync(path.join(folder, 'files/usr/bin/prometheus'));
}
