import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** Readers see either the old or the new content. Only the owner can read the file. */
export function writeFileAtomically(file: string, content: string): void {
  const temporary = `${file}.${process.pid}.new`;
  writeFileSync(temporary, content, { mode: 0o600 });
  renameSync(temporary, file);
}

export function writeJson(file: string, value: unknown): void {
  writeFileAtomically(file, `${JSON.stringify(value, null, 2)}\n`);
}

export function readJson<T>(file: string): T | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as T;
  } catch {
    return null;
  }
}

/** Content of a file in the secrets folder, which is created if it is missing. */
export function getOrCreateSecret(folder: string, name: string, create: () => string): string {
  const file = path.join(folder, name);
  if (existsSync(file)) return readFileSync(file, 'utf8');
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, 0o700);
  const value = create();
  writeFileAtomically(file, value);
  return value;
}
