import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
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
