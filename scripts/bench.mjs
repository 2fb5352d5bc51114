// npm run bench [-- <name>]: runs the benchmarks, which print a line of JSON for each load, and shows the numbers of all lines as a table
// at the end.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');

/** A line of a benchmark; undefined: another line. */
function readResult(line) {
  if (!line.startsWith('{')) return undefined;
  try {
    const result = JSON.parse(line);
    return typeof result.bench === 'string' ? result : undefined;
  } catch {
    return undefined;
  }
}

const isPlain = (value) => value === null || typeof value !== 'object' || value.every?.((each) => typeof each !== 'object');

/** Numbers and texts with the path to them; what is in a list of plain values stays together. */
const flatten = (value, name = '') =>
  isPlain(value)
    ? [[name, Array.isArray(value) ? value.join(', ') : String(value)]]
    : Object.entries(value).flatMap(([key, each]) => flatten(each, name ? `${name}.${key}` : key));

/** For each benchmark the names of its numbers, and a column for each of its lines. */
function toTable(results) {
  const lines = [];
  for (const bench of new Set(results.map((result) => result.bench))) {
    const given = results.filter((result) => result.bench === bench);
    const columns = given.map((result) => new Map(flatten(result).filter(([name]) => name !== 'bench')));
    const names = [...new Set(columns.flatMap((column) => [...column.keys()]))];
    const cells = names.map((name) => [name, ...columns.map((column) => column.get(name) ?? '')]);
    const widths = ['', ...columns].map((_, at) => Math.max(...cells.map((row) => row[at].length)));
    lines.push(bench, ...cells.map((row) => `  ${row.map((cell, at) => cell.padEnd(widths[at])).join('  ')}`.trimEnd()), '');
  }
  return lines.join('\n');
}

async function run(args) {
  const jest = createRequire(import.meta.url).resolve('jest/bin/jest');
  const given = ['--selectProjects', 'bench', 'bench-parts', '--runInBand', ...args];
  const child = spawn(process.execPath, [jest, ...given], { cwd: root, stdio: ['inherit', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => child.once('close', (code) => resolve(code ?? 1)));
  const results = [];
  for await (const line of createInterface(child.stdout)) {
    console.log(line);
    const result = readResult(line);
    if (result) results.push(result);
  }
  if (results.length > 0) console.log(`\n${toTable(results)}`);
  process.exitCode = await ended;
}

await run(process.argv.slice(2));
