import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder, goInstall, isExecutable } from './binaries';
import { projectRoot } from './paths';

/** A Go module of this repository: the loader of Docker Compose, of a version that its go.mod names. */
const source = path.join(projectRoot, 'dev/compose-loader');

/** The loader of compose files is missing and could not be built; the message says why. */
export class ComposeLoaderMissing extends Error {}

/** One for each state of the source. */
function builtFolder(): string {
  const hash = createHash('sha256');
  for (const name of ['go.mod', 'go.sum', 'main.go']) hash.update(readFileSync(path.join(source, name)));
  return path.join(cacheFolder(), `compose-loader-${hash.digest('hex').slice(0, 12)}`);
}
const built = (): string => path.join(builtFolder(), 'compose-loader');

/** What was built before. */
export const findBuiltComposeLoader = (): string | undefined => [built()].find(isExecutable);

/**
 * The loader of compose files, built with Go where it is missing.
 * @param progress called with what is in progress
 * @throws ComposeLoaderMissing where Go or its modules cannot be had; Error where the build fails
 */
export async function findComposeLoader(progress: (text: string) => void): Promise<string> {
  const found = findBuiltComposeLoader();
  if (found) return found;
  try {
    await goInstall('.', {
      what: 'the loader of Docker Compose',
      usual: 'half a minute',
      progress,
      folder: builtFolder(),
      module: source,
    });
  } catch (error) {
    const { message } = error as Error;
    // what can be fetched and not be built is broken
    if (/checksum mismatch|go\.sum/.test(message) || (await hasModules())) throw error;
    throw new ComposeLoaderMissing(`dev/compose-loader: ${message}; it needs Go 1.24 or later`);
  }
  return built();
}

const hasModules = (): Promise<boolean> =>
  promisify(execFile)('go', ['mod', 'download'], { cwd: source, timeout: 60_000 }).then(
    () => true,
    () => false,
  );
