import { chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { projectRoot } from '../../dev/paths';
import { inlineCommands, type ShellBlock, shellBlocks } from '../unit/documents/shell-blocks';
import type { Containers } from './containers';
import { openDockerShell } from './docker';
import { observe, type ObservedParts, removeAllIn } from './observed';

const documents = ['docs/deployment.md', 'docs/upgrades.md'];

/** Blocks of these sections are for a shell with the functions of the first one. */
const withFunctions = [
  'New files with Docker Compose',
  'The order key',
  'The `kek` of a node',
  'Keys of stored secrets in their files',
  'The key of access tokens',
  'The identity of a node',
  'Former keys',
  'Keys of clients of Temporal',
];

/** Headings whose code is run here as it stands, in this order. */
const sections = [
  'The first client',
  'Backups on one machine',
  "Temporal's databases are lost",
  'Limits of the signing nodes',
  ...withFunctions,
  "The password of Temporal's databases",
  'Another database password',
  "The password of Postgres' superuser",
  'Authorities',
  'With Docker Compose',
];
/** Code that is not run here, by its first words, and why. */
export const notRunByDeploy: Record<string, string> = {
  "echo 'GATEWAY_ENV=sandbox":
    'it starts everything by `docker compose up`, which needs an engine: the services are started one by one here',
  'docker compose up': 'needs an engine: the services are started one by one here',
  'docker compose --env-file try.env down -v': 'needs an engine, and would delete what the other commands use',
  'docker compose --env-file try.env up': 'needs an engine: the services are started one by one here, with these variables',
};
/** Lines of code that is run otherwise, and why. */
export const lineNotRun: Record<string, string> = {
  '  git fetch --tags': 'the checkout under test is the new version',
  '  git checkout v1.4.0': 'a version that there is not: the checkout under test is the new one',
};

const isLeftOut = (code: string): boolean =>
  Object.keys(notRunByDeploy).some((words) => code === words || code.startsWith(`${words}\n`));

export const documentedBlocks = (): ShellBlock[] => {
  const blocks = documents.flatMap(shellBlocks).filter(({ who, code }) => who === '' && !isLeftOut(code));
  return sections.flatMap((section) => blocks.filter((block) => block.section === section));
};
export const documentedCommands = (): string[] =>
  [...new Set(documents.flatMap((document) => inlineCommands(document, ['docker'])))].filter(
    (command) => command.startsWith('docker compose ') && !isLeftOut(command),
  );

const ofOneLogin = /^ {2}part=([\w-]+) login=(\w+)$/m;
const restart = '  docker compose restart "$part"\n';

/** Processes with their logins, as docs/deployment.md has them for its code that replaces the password of one: that of the code first. */
export function documentedLogins(): { part: string; login: string }[] {
  const document = readFileSync(path.join(projectRoot, 'docs/deployment.md'), 'utf8');
  const [, text = ''] = /^### Another database password\n([\s\S]*?)^### /m.exec(document) ?? [];
  const pairs = [...text.matchAll(/`([\w-]+)` with\s+`(\w+)`/g)].map(([, part = '', login = '']) => ({ part, login }));
  const [, part = '', login = ''] = ofOneLogin.exec(text) ?? [];
  return [{ part, login }, ...pairs];
}

/** The code for one login, as it is for each of the others. */
function forOtherLogins(code: string, containers: Containers): [string, string][] {
  const [own, ...others] = documentedLogins();
  if (!code.includes(`  part=${own?.part} login=${own?.login}\n`) || !code.includes(restart))
    throw new Error('the code for the password of one login is otherwise than this test');
  return others.map(({ part, login }) => {
    const changed = code.replace(ofOneLogin, `  part=${part} login=${login}`);
    return [login, containers.isRunning(part) ? changed : changed.replace(restart, '')];
  });
}

const functionsOf = (blocks: readonly ShellBlock[]): string =>
  blocks.find(({ section }) => section === withFunctions[0])?.code ?? '';

interface Documented {
  folder: string;
  logFile: string;
  step: <T>(name: string, work: () => Promise<T>) => Promise<T>;
  parts: Omit<ObservedParts, 'runShell' | 'cwd' | 'folder'>;
}

/** Runs the commands with `docker compose` of docs/deployment.md and docs/upgrades.md, by a shell of this machine. */
export async function runDocumentedCommands(containers: Containers, { folder, logFile, step, parts }: Documented): Promise<void> {
  const cwd = path.join(folder, 'operator');
  mkdirSync(path.join(cwd, 'new'), { recursive: true });
  // of the user in the containers
  chownSync(path.join(cwd, 'new'), 1000, 1000);
  writeFileSync(path.join(cwd, '.env'), '');
  const { run: runShell, end } = await openDockerShell(containers, { folder, cwd, logFile });
  const observed = observe(containers, { ...parts, runShell, cwd, folder });
  try {
    // what writes into a folder of the machine is run again by the code for its key
    for (const command of documentedCommands()) await step(command, () => runShell(command));
    removeAllIn(path.join(cwd, 'new'));
    const blocks = documentedBlocks();
    const counts = new Map<string, number>();
    for (const { document, section, code } of blocks) {
      const number = (counts.get(section) ?? 0) + 1;
      counts.set(section, number);
      const place = `${section} ${number}`;
      const { before, after } = observed.get(place) ?? {};
      observed.delete(place);
      const functions = withFunctions.includes(section) ? functionsOf(blocks) : '';
      const lines = code.split('\n').filter((line) => !(line in lineNotRun));
      if (before) await step(before.what, before.check);
      const output = await step(`${document}, ${place}`, () => runShell([functions, ...lines].join('\n')));
      if (after) await step(after.what, () => after.check(output));
      if (section === 'Another database password')
        for (const [login, other] of forOtherLogins(code, containers)) await step(`the same for ${login}`, () => runShell(other));
    }
    if (observed.size > 0) throw new Error(`the documents have no code ${[...observed.keys()].join(' and ')}`);
  } finally {
    end();
  }
}
