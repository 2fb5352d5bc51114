import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import ts from 'typescript';
import { waitFor } from '../../stack/client';
import { projectRoot } from '../../../dev/paths';

const { scripts } = JSON.parse(readFileSync(path.join(projectRoot, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};
const runner = path.join(path.dirname(require.resolve('jest/package.json')), 'bin/jest.js');

/** What `npm run <name> -- <path>` would run, by the arguments that the script gives to jest. */
function testsOf(name: string, file: string): string[] {
  const [, given = ''] = /&& jest (.*)$/.exec(scripts[name] ?? '') ?? [];
  const args = [runner, ...given.split(' '), file, '--listTests'];
  const listed = execFileSync(process.execPath, args, {
    cwd: projectRoot,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return (
    listed
      .trim()
      .split('\n')
      // the first line may be the name of the project
      .filter((line) => path.isAbsolute(line))
      .map((test) => path.relative(projectRoot, test))
  );
}

test.each([
  ['test:unit', 'test/unit/platform/semaphore.test.ts'],
  ['test:integration', 'test/integration/platform/logins.test.ts'],
  ['test:workflows', 'test/integration/transfers/cancelled.test.ts'],
  ['test:replay', 'test/replay/replay.test.ts'],
])('%s with a path runs the tests of this path alone', (name, file) => {
  expect(testsOf(name, file)).toEqual([file]);
});

/** A project of its own with the scripts of this one, of which `build.mjs` does nothing. */
let project: string;
const put = (name: string, content: string): void => {
  mkdirSync(path.dirname(path.join(project, name)), { recursive: true });
  writeFileSync(path.join(project, name), content, { mode: 0o755 });
};
beforeEach(() => {
  project = mkdtempSync(path.join(tmpdir(), 'npm-scripts-'));
  put('package.json', JSON.stringify({ scripts, jest: { transform: {} } }));
  put('scripts/build.mjs', '');
});
afterEach(() => rmSync(project, { recursive: true, force: true }));

test('npm hands the path after test:unit over to jest', () => {
  put('node_modules/.bin/jest', '#!/usr/bin/env node\nconsole.log(JSON.stringify(process.argv.slice(2)));\n');
  const command = ['run', '--silent', 'test:unit', '--', 'test/some/file.test.ts'];
  const args = JSON.parse(execFileSync('npm', command, { cwd: project, encoding: 'utf8' })) as string[];
  expect(args.slice(0, 2)).toEqual(['--selectProjects', 'unit']);
  expect(args.at(-1)).toBe('test/some/file.test.ts');
}, 60_000);

test('what is watched is run again after a change, and nothing else is', async () => {
  symlinkSync(path.join(projectRoot, 'node_modules'), path.join(project, 'node_modules'));
  copyFileSync(path.join(projectRoot, 'scripts/test-watch.mjs'), path.join(project, 'scripts/test-watch.mjs'));
  put('watched/a.test.js', `const { value } = require('../value');\ntest('value ' + value, () => undefined);\n`);
  put('other/b.test.js', `test('of another folder', () => undefined);\n`);
  put('value.js', `exports.value = 'before';\n`);
  // a process group of its own, which is ended as a whole
  const command = ['run', '--silent', 'test:watch', '--', 'watched'];
  // it ends by itself too, and its output has no colours where the one of these tests has
  const child = spawn('timeout', ['-k', '5', '230', 'npm', ...command], {
    ...{ cwd: project, detached: true },
    env: { ...process.env, FORCE_COLOR: '0' },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const closed = new Promise((resolve) => child.once('close', resolve));
  try {
    await waitFor(() => /✓ value before[\s\S]*Tests: +1 passed, 1 total/.test(output));
    put('value.js', `exports.value = 'after';\n`);
    await waitFor(() => /✓ value after[\s\S]*Tests: +1 passed, 1 total/.test(output));
    expect(output).not.toContain('of another folder');
  } finally {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
    await closed;
  }
}, 240_000);

test('watching without a path, which would run all tests, is refused', () => {
  const { status, stderr } = spawnSync(process.execPath, [path.join(projectRoot, 'scripts/test-watch.mjs')], {
    encoding: 'utf8',
  });
  expect(stderr).toMatch(/^usage: npm run test:watch -- <path>/);
  expect(status).toBe(2);
});

describe('a second run of', () => {
  /** The commands of a script, each with its arguments. */
  const commandsOf = (name: string): string[] => (scripts[name] ?? '').split(' && ');

  test('lint reads what each of its tools has cached, by the content of the files: a checkout changes their times', () => {
    const commands = commandsOf('lint');
    expect(commands.map((command) => command.split(' ')[0])).toEqual(['eslint', 'prettier', 'depcruise', 'knip']);
    for (const command of commands) expect(command).toMatch(/ --cache( |$)/);
    for (const command of commands.filter((it) => !it.startsWith('knip'))) expect(command).toMatch(/ --cache-strategy content /);
  });

  test('typecheck reads what the first one has stored', () => {
    expect(commandsOf('typecheck')).toEqual(['tsc --noEmit']);
    const { config } = ts.readConfigFile(path.join(projectRoot, 'tsconfig.json'), (file) => readFileSync(file, 'utf8')) as {
      config: { compilerOptions: ts.CompilerOptions };
    };
    expect(config.compilerOptions).toMatchObject({
      incremental: true,
      tsBuildInfoFile: expect.stringMatching(/^node_modules\/\.cache\//),
    });
  });
});
