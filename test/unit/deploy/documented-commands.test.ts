import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { projectRoot } from '../../../dev/paths';
import { shellBlocks } from '../documents/shell-blocks';
import { compose, type Service, services } from './compose-file';

const documents = ['docs/deployment.md', 'docs/upgrades.md'].map((name) => readFileSync(path.join(projectRoot, name), 'utf8'));
const text = documents.join('\n');

/** Lines of code, in blocks and within sentences. */
const lines = [...text.matchAll(/```sh\n([\s\S]*?)```|`([^`\n]+)`/g)].flatMap(([, block = '', inline = '']) => [
  ...block.split('\n'),
  inline,
]);
/** `gateway …`, without placeholders, also as an argument of `docker compose run`, where other services run it too. */
const commands = lines
  .filter((line) => !/^\s*for /.test(line))
  .flatMap((line) => line.match(/(?:^|\s|\/)(?:gateway(?:\.js)?|--rm owner|--rm mpc-\d) [a-z][^|;&#)`]*/g) ?? [])
  .map((line) => line.trim().replace(/^(?:\/?gateway(?:\.js)?|--rm owner|--rm mpc-\d) /, ''));
const composed = lines.flatMap((line) => line.match(/docker compose (?:run|up|start|stop|restart|exec) .*/g) ?? []);

/** Words up to the first argument; `unversioned` is one. */
const nameOf = (command: string): string => /^[a-z][a-z0-9-]*(?: (?!unversioned)[a-z][a-z-]*)*/.exec(command)?.[0] ?? '';
const scripts = (JSON.parse(readFileSync(path.join(projectRoot, 'package.json'), 'utf8')) as { scripts: object }).scripts;

/** Of each command once: starting the program takes most of a second. */
const asked = new Map<string, Promise<string>>();
function help(name: string): Promise<string> {
  const start = () =>
    promisify(execFile)(process.execPath, [path.join(projectRoot, 'bin/gateway.js'), ...name.split(' '), '--help']);
  const shown = asked.get(name) ?? start().then(({ stdout }) => stdout);
  asked.set(name, shown);
  return shown;
}

/** Services that the line names: up to the command that runs in one, or all of them. A variable has the values of the loop around it. */
function servicesOf(line: string): string[] {
  const given = line.replace(/ (--entrypoint|-v|--network) \S+/g, '').split(/[;|<>]/)[0] ?? '';
  const [, , subcommand = '', ...rest] = given.trim().split(/\s+/);
  const named = rest.filter((word) => !word.startsWith('-'));
  const own = ['run', 'exec'].includes(subcommand) ? named.slice(0, 1) : named;
  return own.flatMap((word) => {
    const [, variable] = /^"?\$(\w+)"?$/.exec(word) ?? [];
    return variable ? (new RegExp(`for ${variable} in ([^;]+);`).exec(text)?.[1] ?? word).split(' ') : [word];
  });
}

describe('docs/deployment.md and docs/upgrades.md', () => {
  it('names commands', () => expect(commands.length).toBeGreaterThan(5));

  it.each([...new Set(commands)])('gateway %s is a command with these options', async (command) => {
    const shown = await help(nameOf(command));
    // of a group, or of a command that is not there, the help is that of what is above
    expect(shown).toMatch(new RegExp(`^Usage: gateway ${nameOf(command)}(?= |$)`, 'm'));
    for (const option of command.match(/--[a-z-]+/g) ?? []) expect(shown).toContain(option);
  });

  it.each(composed)('%s names services of docker-compose.yml', (line) => {
    const named = servicesOf(line);
    expect(named).not.toEqual([]);
    expect(named.filter((name) => !(name in compose.services))).toEqual([]);
  });

  it('an update replaces every process that is made here, one after the other, nodes first', () => {
    const order = /for service in ([^;]+);/.exec(text)?.[1]?.split(' ') ?? [];
    const replaced = services.filter(([, { build, restart, profiles }]) => build && restart !== 'no' && !profiles);
    expect([...order].sort()).toEqual(replaced.map(([name]) => name).sort());
    expect(order).toEqual(['mpc-node-1', 'mpc-node-2', 'mpc-node-3', 'authoriser', 'worker', 'api']);
  });

  it('what it adds to observe the processes is on the network from which they are reached, with files that there are', () => {
    const section = /^## Observability\n([\s\S]*?)^## /m.exec(text)?.[1] ?? '';
    const added = parse(/```yaml\n([\s\S]*?)```/.exec(section)?.[1] ?? '') as { services: Record<string, Service> };
    expect(Object.keys(added.services)).toEqual(['prometheus', 'collector']);
    for (const { networks = [], volumes = [] } of Object.values(added.services)) {
      expect(networks).toContain('telemetry');
      for (const network of networks) expect(compose.networks).toHaveProperty([network]);
      for (const [, file = ''] of volumes.map((it) => it.split(':')[0]?.match(/^\.\/(.*)$/) ?? []))
        // written by whoever adds them
        expect([file, existsSync(path.join(projectRoot, file)) || /^(prometheus|collector)\.yml$/.test(file)]).toEqual([
          file,
          true,
        ]);
    }
    const scraped = services.filter(([, { environment }]) => environment?.METRICS_PORT !== undefined).map(([name]) => name);
    const [row = ''] = /^\| metrics .*$/m.exec(section) ?? [];
    expect(row.match(/`[a-z0-9-]+`/g)?.map((name) => name.slice(1, -1))).toEqual(scraped);
    expect(row).toContain(`port ${compose.services.api?.environment?.METRICS_PORT}`);
    for (const file of section.match(/`monitoring\/[\w.]+`/g) ?? [])
      expect(existsSync(path.join(projectRoot, file.slice(1, -1)))).toBe(true);
  });

  it('code that stops, replaces or starts several things ends at the first command that fails', () => {
    const blocks = ['docs/deployment.md', 'docs/upgrades.md'].flatMap(shellBlocks).map(({ code }) => code);
    const sequences = blocks.filter((code) => /docker compose (stop|start|up -d)/.test(code));
    expect(sequences.length).toBeGreaterThan(2);
    // in parentheses: the shell reads all of it before it runs the first command, which cannot take the rest for its own input
    for (const code of sequences) expect(code).toMatch(/^\(\n {2}set -e\n[\s\S]*\n\)\n$/);
  });

  it('names scripts of package.json alone', () => {
    for (const [, name = ''] of text.matchAll(/npm run ([\w:]+)/g)) expect(scripts).toHaveProperty([name]);
  });
});
