import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { projectRoot } from '../../../dev/paths';

/** Folders of the packages of each image, by its target, as the lock file and the compiled code give them. */
export async function packagesOfImages(): Promise<Record<string, string[]>> {
  const script = path.join(projectRoot, 'scripts/image-packages.mjs');
  const { stdout } = await promisify(execFile)(process.execPath, [script]);
  return JSON.parse(stdout) as Record<string, string[]>;
}
