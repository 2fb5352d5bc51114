import { chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { projectRoot } from '../../dev/paths';
import { inlineCommands, type ShellBlock, shellBlocks } from '../unit/documents/shell-blocks';
import type { Containers } from './containers';
import { openDockerShell } from './docker';
import type { KeysSince } from './keys-since';
import type { PaidSince } from './paid-since';

const documents = ['docs/deployment.md', 'docs/upgrades.md'];

/** Headings whose code is run here as it stands, in this order. */
const sections = [
  'The first client',
  'Backups on one machine',
  'Limits of the signing nodes',
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

interface Documented {
  folder: string;
  logFile: string;
  step: <T>(name: string, work: () => Promise<T>) => Promise<T>;
  /** Between the dumps and their restores: of the gateway's database, and then of a node's. */
  paidSince: PaidSince;
  keysSince: KeysSince;
}

/** Runs the commands with `docker compose` of docs/deployment.md and docs/upgrades.md, by a shell of this machine. */
export async function runDocumentedCommands(
  containers: Containers,
  { folder, logFile, step, paidSince, keysSince }: Documented,
): Promise<void> {
  const cwd = path.join(folder, 'operator');
  mkdirSync(path.join(cwd, 'new'), { recursive: true });
  // of the user in the containers
  chownSync(path.join(cwd, 'new'), 1000, 1000);
  writeFileSync(path.join(cwd, '.env'), '');
  const { run: runShell, end } = await openDockerShell(containers, { folder, cwd, logFile });
  try {
    for (const command of documentedCommands()) await step(command, () => runShell(command));
    for (const { document, section, code } of documentedBlocks()) {
      const lines = code.split('\n').filter((line) => !(line in lineNotRun));
      const output = await step(`${document}, ${section}: ${lines[0]}`, () => runShell(lines.join('\n')));
      // read and put back as it is
      if (section === 'Limits of the signing nodes')
        await step('the same for a kek', () => runShell(code.replaceAll('limits.json', 'kek')));
      if (section === 'Another database password')
        for (const [login, other] of forOtherLogins(code, containers)) await step(`the same for ${login}`, () => runShell(other));
      if (code.includes('pg_dump')) await step('a transfer that the dump does not have', () => paidSince.pay());
      if (code.includes('pg_restore') && code.includes('owner reconcile')) {
        await step('it is rebuilt, and not paid again with its key', () => paidSince.comesBack(runShell, output));
        await step('wallets whose keys the dump of a node does not have', () => keysSince.make());
      } else if (code.includes('pg_restore'))
        await step('the node signs with older keys; those that it lacks are named, and their funds moved by the others', () =>
          keysSince.areMoved(runShell),
        );
    }
  } finally {
    end();
  }
}
