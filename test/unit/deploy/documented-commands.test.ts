import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { projectRoot } from '../../../dev/paths';
import { databaseLogins } from '../../../src/cli/setup/database-logins';
import { documentedLogins } from '../../deploy/documented';
import { shellBlocks } from '../documents/shell-blocks';
import { compose, type Service, services } from './compose-file';

/** Without what is for other files than docker-compose.yml (test/unit/deploy/machine-files.test.ts) or for no engine. */
const documents = ['docs/deployment.md', 'docs/upgrades.md'].map((name) =>
  readFileSync(path.join(projectRoot, name), 'utf8').replace(/^( *)```sh \w+\n[\s\S]*?^\1```$/gm, ''),
);
const text = documents.join('\n');

/** Lines of code, in blocks and within sentences. */
const lines = [...text.matchAll(/```sh\n([\s\S]*?)```|`([^`\n]+)`/g)].flatMap(([, block = '', inline = '']) => [
  ...block.split('\n'),
  inline,
]);
const composed = lines.flatMap((line) => line.match(/docker compose (?:run|up|stop|restart|exec) .*/g) ?? []);

/** Services that the line names: up to the command that runs in one, or all of them. A variable has the values of the loop around it, or its own. */
function servicesOf(line: string): string[] {
  const given = line.replace(/ (--entrypoint|-v|--network) \S+/g, '').split(/[;|<>]/)[0] ?? '';
  const [, , subcommand = '', ...rest] = given.trim().split(/\s+/);
  const named = rest.filter((word) => !word.startsWith('-'));
  const own = ['run', 'exec'].includes(subcommand) ? named.slice(0, 1) : named;
  return own.flatMap((word) => {
    // of the function `replace`: all that the code calls it with
    if (word === '"$name"') return [...text.matchAll(/^ *replace ([\w -]+)$/gm)].flatMap(([, names = '']) => names.split(' '));
    const [, variable] = /^"?\$(\w+)"?$/.exec(word) ?? [];
    const values = variable && new RegExp(`for ${variable} in ([^;]+);|^ *${variable}=(\\S+)`, 'm').exec(text);
    return values ? (values[1] ?? values[2] ?? word).split(' ') : [word];
  });
}

describe('docs/deployment.md and docs/upgrades.md', () => {
  it.each(composed)('%s names services of docker-compose.yml', (line) => {
    const named = servicesOf(line);
    expect(named).not.toEqual([]);
    expect(named.filter((name) => !(name in compose.services))).toEqual([]);
  });

  it('nothing is started together with the jobs that it depends on', () => {
    // `start` carries them out again; so does `up`, but for the first start of all
    expect(text).not.toMatch(/docker compose start/);
    for (const line of composed) if (line.includes(' up -d')) expect(line).toContain(' up -d --no-deps ');
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

  it('the password of every login is replaced by the code for one of them, with the process that has it', () => {
    const all = databaseLogins.map(({ folder, login }) => ({ part: folder, login }));
    const byLogin = (a: { login: string }, b: { login: string }) => (a.login < b.login ? -1 : 1);
    expect(documentedLogins().sort(byLogin)).toEqual(all.sort(byLogin));
  });

  it('code that stops, replaces or starts several things ends at the first command that fails', () => {
    const blocks = ['docs/deployment.md', 'docs/upgrades.md'].flatMap(shellBlocks).map(({ code }) => code);
    // not what defines functions for the others
    const sequences = blocks.filter(
      (code) => /docker compose (stop|restart|up -d)/.test(code) && code.trim().includes('\n') && !/^\w+\(\) \{$/m.test(code),
    );
    expect(sequences.length).toBeGreaterThan(2);
    // in parentheses: the shell reads all of it before it runs the first command, which cannot take the rest for its own input
    for (const code of sequences) expect(code).toMatch(/^\(\n {2}set -e\n[\s\S]*\n\)\n$/);
  });
});
