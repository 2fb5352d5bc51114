import { existsSync } from 'node:fs';
import path from 'node:path';

/**
 * Path of a file that is loaded by its path. Searched upwards, since the sources and the compiled output are at different depths below the project root.
 * @param relative from the project root
 * @param from folder of the caller
 * @throws Error naming the file
 */
export function findInstalled(relative: string, from: string): string {
  for (let folder = from; folder !== path.dirname(folder); folder = path.dirname(folder)) {
    const candidate = path.join(folder, relative);
    if (existsSync(candidate)) return candidate;
  }
  throw new Error(`${relative} was not found above ${from}: the installation is incomplete`);
}
