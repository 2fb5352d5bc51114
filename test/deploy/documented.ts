import { chownSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { inlineCommands, type ShellBlock, shellBlocks } from '../unit/documents/shell-blocks';
import { run } from './commands';
import type { Containers } from './containers';
import { serveDocker } from './docker';

const timeoutMs = 10 * 60_000;
const documents = ['docs/deployment.md', 'docs/upgrades.md'];

/** Headings whose code is run here as it stands, in this order. */
const sections = [
  'The first client',
  'Backups on one machine',
  'Limits of the signing nodes',
  "The password of Temporal's databases",
  'Another database password',
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

/** Runs the commands with `docker compose` of docs/deployment.md and docs/upgrades.md, by a shell of this machine. */
export async function runDocumentedCommands(
  containers: Containers,
  { folder, logFile, step }: { folder: string; logFile: string; step: <T>(name: string, work: () => Promise<T>) => Promise<T> },
): Promise<void> {
  const cwd = path.join(folder, 'operator');
  mkdirSync(path.join(cwd, 'new'), { recursive: true });
  // of the user in the containers
  chownSync(path.join(cwd, 'new'), 1000, 1000);
  await run(['touch', '.env'], { timeoutMs, logFile, cwd });
  const end = await serveDocker(containers, path.join(folder, 'docker'));
  const env = { ...process.env, PATH: `${path.join(folder, 'docker')}${path.delimiter}${process.env.PATH ?? ''}` };
  const runShell = (code: string): Promise<string> =>
    run(['bash', '-euo', 'pipefail', '-c', code], { timeoutMs, logFile, cwd, env });
  try {
    for (const command of documentedCommands()) await step(command, () => runShell(command));
    for (const { document, section, code } of documentedBlocks()) {
      // an order between the dump and the stop, such as of a key for the pool, would be missing after the restore, and nothing would open
      if (code.includes('pg_dump'))
        for (const name of ['api', 'worker', 'authoriser']) await step(`${name} stops`, () => containers.stopWell(name));
      const lines = code.split('\n').filter((line) => !(line in lineNotRun));
      const output = await step(`${document}, ${section}: ${lines[0]}`, () => runShell(lines.join('\n')));
      // the books are compared with the nodes' journals after a restore
      if (code.includes('pg_restore') && !output.includes('(none)'))
        throw new Error(`owner reconcile shows something to rebuild:\n${output.slice(-1_000)}`);
    }
  } finally {
    end();
  }
}
