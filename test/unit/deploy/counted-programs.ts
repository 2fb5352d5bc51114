import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { findOnPath } from '../../../dev/binaries';

/** Writes down its words and is counted. With the number FAILING it ends as a failure, before its work, or after it where WORKS is set. */
const counted = `#!/bin/bash
read -r n < "$ROOT/count"; echo $((n += 1)) > "$ROOT/count"
printf '%s\\n' "\${0##*/}" "$@" >> "$ROOT/words"
[ "$n" != "$FAILING" ] || { [ -z "$WORKS" ] || 'REAL' "$@"; exit 9; }
exec 'REAL' "$@"
`;

const writeProgram = (file: string, code: string): void => {
  writeFileSync(file, code);
  chmodSync(file, 0o755);
};

export interface Run {
  /** Number of the command that fails; 0: none. */
  failing?: number;
  /** It fails after it has done its work, as where a connection ends before the answer. */
  works?: boolean;
  env?: Record<string, string>;
}

/** Programs for code of the documents, which runs with no others. */
export class CountedPrograms {
  /**
   * @param root gets the programs; they have it as ROOT
   * @param standIns code for bash in place of a program, by its name
   * @param names all programs of PATH
   */
  constructor(
    private readonly root: string,
    standIns: Readonly<Record<string, string>>,
    names: readonly string[],
  ) {
    mkdirSync(path.join(root, 'programs'));
    for (const [name, code] of Object.entries(standIns)) writeProgram(path.join(root, name), code);
    for (const name of names) {
      const real = name in standIns ? path.join(root, name) : findOnPath(name);
      writeProgram(path.join(root, 'programs', name), counted.replaceAll('REAL', real ?? `${name} is not installed`));
    }
  }

  /** @returns what the code printed for people when it failed; null when it ended well */
  run(code: string, cwd: string, { failing = 0, works = false, env = {} }: Run = {}): string | null {
    writeFileSync(path.join(this.root, 'count'), '0\n');
    const own = { ROOT: this.root, PATH: path.join(this.root, 'programs'), FAILING: String(failing), WORKS: works ? '1' : '' };
    const { status, stderr } = spawnSync('/bin/bash', ['-c', code], { cwd, env: { ...own, ...env }, encoding: 'utf8' });
    return status === 0 ? null : stderr;
  }

  /** How many commands the last run has had. */
  get count(): number {
    return Number(readFileSync(path.join(this.root, 'count'), 'utf8'));
  }
}
