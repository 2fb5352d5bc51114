import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { projectRoot } from '../../../dev/paths';

const text = readFileSync(path.join(projectRoot, 'docs/deployment.md'), 'utf8');

/** `gateway …` in code, without placeholders, also as an argument of `docker compose run`. */
const commands = [...text.matchAll(/```sh\n([\s\S]*?)```|`([^`\n]+)`/g)]
  .flatMap(([, block = '', inline = '']) => [...block.split('\n'), inline])
  .flatMap((line) => line.match(/(?:^|\s|\/)gateway(?:\.js)? [a-z][^|;&#)]*/g) ?? [])
  .map((line) => line.trim().replace(/^\/?gateway(?:\.js)? /, ''));

/** Words up to the first argument. */
const nameOf = (command: string): string => /^[a-z][a-z0-9-]*(?: [a-z][a-z-]*)*/.exec(command)?.[0] ?? '';
const scripts = (JSON.parse(readFileSync(path.join(projectRoot, 'package.json'), 'utf8')) as { scripts: object }).scripts;

const help = async (name: string): Promise<string> =>
  (await promisify(execFile)(process.execPath, [path.join(projectRoot, 'bin/gateway.js'), ...name.split(' '), '--help'])).stdout;

describe('docs/deployment.md', () => {
  it('names commands', () => expect(commands.length).toBeGreaterThan(5));

  it.each([...new Set(commands)])('gateway %s is a command with these options', async (command) => {
    const shown = await help(nameOf(command));
    // of a group, or of a command that is not there, the help is that of what is above
    expect(shown).toMatch(new RegExp(`^Usage: gateway ${nameOf(command)}(?= |$)`, 'm'));
    for (const option of command.match(/--[a-z-]+/g) ?? []) expect(shown).toContain(option);
  });

  it('names scripts of package.json alone', () => {
    for (const [, name = ''] of text.matchAll(/npm run ([\w:]+)/g)) expect(scripts).toHaveProperty([name]);
  });
});
