import { existsSync } from 'node:fs';
import path from 'node:path';

/** Of packages that are not installed with the project's own (CONTRIBUTING.md); null: not installed. */
const inFolder = (...parts: string[]): string | null => {
  const place = path.join(__dirname, '../../official', ...parts);
  return existsSync(place) ? place : null;
};

/** Folder of a package. */
export const officialPackage = (name: string): string | null => inFolder('node_modules', name);

/** Interpreter that has the official packages of Python. */
export const officialPython = (): string | null => inFolder('.venv', 'bin', 'python');
