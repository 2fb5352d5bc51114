// npm run test:watch -- <path>…: runs the tests of these paths, of any project, again after every change of a file that git knows or may
// know. What they need (Postgres, a stack) is started by their project.
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const args = process.argv.slice(2);
// all of them take an hour
if (!args.some((arg) => !arg.startsWith('-'))) {
  console.error('usage: npm run test:watch -- <path>…   (of tests: a file, a folder or a part of a name)');
  process.exit(2);
}
const run = (script, ...rest) => spawnSync(process.execPath, [script, ...rest], { cwd: root, stdio: 'inherit' }).status ?? 1;
const built = run(path.join(root, 'scripts', 'build.mjs'));
process.exitCode = built || run(createRequire(import.meta.url).resolve('jest/bin/jest'), '--watchAll', ...args);
