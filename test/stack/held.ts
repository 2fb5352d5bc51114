import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { sleep } from '../../dev/processes';

/**
 * Processes that the supervisor must not start again for now: a test takes the place of one, or changes what it finds at its start. A
 * file in the data folder, since tests and supervisor share no objects.
 */
const prefix = 'held-';
/** Longer than any test. */
const longestMs = 600_000;

/** Until the returned function is called, a process of this name that ends is not started again. */
export function hold(dataDir: string, name: string): () => void {
  const file = path.join(dataDir, `${prefix}${name}`);
  writeFileSync(file, '');
  return () => rmSync(file, { force: true });
}

/** For the supervisor, before it starts a process. */
export async function whileHeld(dataDir: string, name: string): Promise<void> {
  const file = path.join(dataDir, `${prefix}${name}`);
  for (const end = Date.now() + longestMs; existsSync(file) && Date.now() < end;) await sleep(50);
}

/** For the end of a run: the supervisor does not stop while it waits. */
export function releaseHeld(dataDir: string): void {
  for (const name of readdirSync(dataDir)) if (name.startsWith(prefix)) rmSync(path.join(dataDir, name), { force: true });
}
