import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { type History, readRun as readRunOf } from '../../dev/replay/history';

/** The committed histories. */

const folder = path.join(__dirname, 'histories');

export const historyNames: readonly string[] = readdirSync(folder)
  .filter((file) => file.endsWith('.json'))
  .map((file) => path.basename(file, '.json'))
  .sort();

export const readHistory = (name: string): History =>
  JSON.parse(readFileSync(path.join(folder, `${name}.json`), 'utf8')) as History;

/** What a run has gone through, in words, and how it ended. */
export function readRun(name: string): { workflow: string; steps: string[]; end: string } {
  const run = readRunOf(readHistory(name));
  return { ...run, steps: run.steps.map(({ text }) => text) };
}
