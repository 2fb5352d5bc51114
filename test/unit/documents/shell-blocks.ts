import { readFileSync } from 'node:fs';
import path from 'node:path';
import { projectRoot } from '../../../dev/paths';

export interface ShellBlock {
  document: string;
  /** The heading above it. */
  section: string;
  code: string;
  /** The word after `sh`: whose shell it is. */
  who: string;
}

/** The code for a shell of a document, in its order, also that within lists. @param document path in the project */
export const shellBlocks = (document: string): ShellBlock[] => blocksIn(document, 'sh');

/** The code in YAML of a document. */
export const yamlBlocks = (document: string): ShellBlock[] => blocksIn(document, 'yaml');

function blocksIn(document: string, language: string): ShellBlock[] {
  const text = readFileSync(path.join(projectRoot, document), 'utf8');
  return [...text.matchAll(new RegExp(`^( *)\`\`\`${language}( \\w+)?\n([\\s\\S]*?)^\\1\`\`\`$`, 'gm'))].map(
    ({ index, 1: indent = '', 2: who = '', 3: code = '' }) => {
      const above = text.slice(0, index).replace(/^( *)```[\s\S]*?^\1```$/gm, '');
      const headings = [...above.matchAll(/^#+ (.*)$/gm)];
      const own = code.replace(new RegExp(`^${indent}`, 'gm'), '');
      return { document, section: headings.at(-1)?.[1] ?? '', code: own, who: who.trim() };
    },
  );
}

/** Variables that are set for a command alone, in front of it. */
const assignments = /^(?:[A-Z_][A-Z0-9_]*=\S+ )*/;

/** Code within sentences that begins with one of these words, or with variables and then one of them, each once. */
export function inlineCommands(document: string, programs: readonly string[]): string[] {
  const text = readFileSync(path.join(projectRoot, document), 'utf8').replace(/^( *)```[\s\S]*?^\1```$/gm, '');
  const found = [...text.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);
  return [
    ...new Set(found.filter((code) => programs.some((program) => code.replace(assignments, '').startsWith(`${program} `)))),
  ];
}
