import { readdirSync } from 'node:fs';
import path from 'node:path';
import { projectRoot } from '../../../dev/paths';

/** Folders of the project that have documents; those below them too. */
const folders = ['docs', 'client', 'dev', 'examples', 'native'];
const isForeign = (file: string): boolean => file.split(path.sep).some((part) => part === 'node_modules' || part === 'target');

/** Every document of the project, as a path in it. */
export function documents(): string[] {
  const inFolders = folders.flatMap((folder) =>
    readdirSync(path.join(projectRoot, folder), { recursive: true, encoding: 'utf8' }).map((file) => path.join(folder, file)),
  );
  return [...readdirSync(projectRoot), ...inFolders].filter((file) => file.endsWith('.md') && !isForeign(file)).sort();
}
