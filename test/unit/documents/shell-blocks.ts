import { readFileSync } from 'node:fs';
import path from 'node:path';
import { projectRoot } from '../../../dev/paths';

export interface ShellBlock {
  document: string;
  /** The heading above it. */
  section: string;
  code: string;
}

/** The code for a shell of a document, in its order. @param document path in the project */
export function shellBlocks(document: string): ShellBlock[] {
  const text = readFileSync(path.join(projectRoot, document), 'utf8');
  return [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(({ index, 1: code = '' }) => {
    const above = text.slice(0, index).replace(/^```[\s\S]*?^```$/gm, '');
    const headings = [...above.matchAll(/^#+ (.*)$/gm)];
    return { document, section: headings.at(-1)?.[1] ?? '', code };
  });
}
