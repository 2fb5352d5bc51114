import { execFile, spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

/** Programs that no npm package carries: looked for on PATH, else installed once into a folder of this user. */

const buildTimeoutMs = 15 * 60_000;

/** Outside node_modules, so that `npm ci` does not delete a build that took minutes. */
export const cacheFolder = (): string =>
  path.join(process.env.XDG_CACHE_HOME || path.join(homedir(), '.cache'), 'custody-gateway');

export const binFolder = (): string => path.join(cacheFolder(), 'bin');

export function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export const findOnPath = (name: string): string | undefined =>
  (process.env.PATH ?? '')
    .split(path.delimiter)
    .filter(Boolean)
    .map((folder) => path.join(folder, name))
    .find(isExecutable);

/**
 * Builds a program into a folder, by default `binFolder`.
 * @throws Error with the reason: Go is not installed, the module cannot be fetched, or the build fails
 */
export async function goInstall(
  goPackage: string,
  {
    what,
    usual,
    progress,
    folder = binFolder(),
    env = {},
    module,
  }: {
    what: string;
    usual: string;
    progress: (text: string) => void;
    folder?: string;
    env?: Record<string, string>;
    /** Folder of a module of this repository that the package is of. */
    module?: string;
  },
): Promise<void> {
  const version = await promisify(execFile)('go', ['env', 'GOVERSION'], { timeout: 10_000 }).then(
    ({ stdout }) => stdout.trim(),
    () => null,
  );
  if (!version) throw new Error(`go install ${goPackage}: Go is not installed`);
  const startedAt = Date.now();
  const seconds = () => Math.round((Date.now() - startedAt) / 1000);
  const report = () => progress(`building ${what} with ${version} (${usual}, once): ${seconds()} s`);
  report();
  const timer = setInterval(report, 10_000);
  try {
    await new Promise<void>((resolve, reject) => {
      const child = spawn('go', ['install', goPackage], {
        cwd: module,
        env: { ...process.env, ...env, GOBIN: folder },
        stdio: ['ignore', 'ignore', 'pipe'],
        timeout: buildTimeoutMs,
      });
      let errors = '';
      child.stderr.on('data', (chunk: Buffer) => (errors = (errors + chunk.toString()).slice(-2_000)));
      child.once('error', reject);
      child.once('exit', (code, signal) => {
        if (code === 0) return resolve();
        const reason = signal ? `ended by ${signal} after ${seconds()} s` : (errors.trim().split('\n').pop() ?? '');
        reject(new Error(`go install ${goPackage}: ${reason}`));
      });
    });
  } finally {
    clearInterval(timer);
  }
}
