import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import type { DataSource } from 'typeorm';
import { forgetUsers, newUser } from '../crash/users';
import { api, dataFolder, stack } from '../stack/client';
import { openDatabase } from '../stack/database';
import { type ShellBlock, shellBlocks } from '../unit/documents/shell-blocks';
import { call, fundedAccount } from './support';

/** The code for a shell of the documents, as it stands: its lines are pasted into a shell one after another, as a reader does. */

const documents = ['README.md', 'docs/integration.md', 'docs/webhooks.md'];
/** What is not run here, by its first words, and why. All other code is. */
const notRun: Record<string, string> = {
  'credentials=$(docker compose --env-file try.env run': 'needs an engine: `npm run test:deploy` runs it without one',
  'npm ci && npm run demo': 'steps of .ci/run, which would install the packages under this test',
  'curl -X POST $base/webhooks': 'its url has to lead to a public address, which takes a network; api.test.ts creates webhooks',
};

const isNotRun = ({ code }: ShellBlock): boolean => Object.keys(notRun).some((words) => code.startsWith(words));
/** What the code after it needs, in the same shell. */
const isStart = ({ who }: ShellBlock): boolean => who === 'dev';
const blocks = documents.flatMap(shellBlocks);
const named = (of: ShellBlock[]) => of.map((block): [string, ShellBlock] => [`${block.document}: ${block.section}`, block]);
/** The user's code of the second factor. */
const mfaCode = '"mfa_code":"123456"';
/** Each needs a key of the nodes, deposits and a transfer at most, which all files of the run wait for. */
const timeoutMs = 800_000;
const keptCharacters = 20_000;

/** A folder from which `npm run` and ./.dev/stack.json are found as from the project's. */
function readersFolder(): string {
  const folder = path.join(dataFolder(), 'reader');
  mkdirSync(path.join(folder, '.dev'), { recursive: true });
  const link = path.join(folder, '.dev/stack.json');
  if (!existsSync(link)) symlinkSync('../../stack.json', link);
  return folder;
}

/**
 * Pastes code into a shell until a command fails, or a request is refused. The shell reads a line when the one before is done, so that a command
 * that reads its input takes the next lines, as on a terminal. @throws Error with the command that has failed, and the end of its output
 */
function runShell(code: string, variables: Record<string, string> = {}): Promise<string> {
  const strict = [
    'set -Eeuo pipefail',
    `trap 'echo "failed: $BASH_COMMAND"; exit 1' ERR`,
    // what a shell for people does besides: prompts, and groups of processes
    'PS1= PS2=; set +m; unset HISTFILE',
    // a refusal, whose text may be what another command reads; curl says the status
    `curl() { command curl -sS --fail-with-body "$@" || { local status=$?; printf 'refused: %s\\n' "$@" | grep ' http' >&2; return $status; }; }`,
  ];
  return new Promise((resolve, reject) => {
    const child = spawn('bash', ['--norc', '--noprofile', '-i'], {
      cwd: readersFolder(),
      env: { ...process.env, ...variables },
      // a process group of its own, which the time limit ends as a whole
      detached: true,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    child.stdin.on('error', () => undefined);
    child.stdin.end([...strict, 'exec 2>&1', code, `printf 'read to %s\\n' 'the end'`, ''].join('\n'));
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output = (output + chunk.toString()).slice(-keptCharacters)));
    const timer = setTimeout(() => process.kill(-(child.pid ?? 0), 'SIGKILL'), timeoutMs);
    child.once('error', reject);
    child.once('close', (status, signal) => {
      clearTimeout(timer);
      // what reads its input has taken the rest
      if (status === 0 && !/^read to the end$/m.test(output))
        reject(new Error(`a command has read the lines after it:\n${output}`));
      else if (status === 0) resolve(output);
      else reject(new Error(`${signal ? `not finished after ${timeoutMs / 1000} s` : `exit code ${status}`}:\n${output}`));
    });
  });
}

let database: DataSource;
beforeAll(async () => (database = await openDatabase(stack().postgres.url, { poolSize: 1 })));
afterAll(async () => {
  await forgetUsers(database);
  await database.destroy();
});

test('what is not run here is in the documents', () => {
  for (const words of Object.keys(notRun)) expect(blocks.filter(({ code }) => code.startsWith(words))).toHaveLength(1);
});

const run = blocks.filter((block) => !isNotRun(block));

describe('README.md', () => {
  const all = run.filter(({ document }) => document === 'README.md');
  const ofReadme = all.filter((block) => !isStart(block));
  const startOf = (block: ShellBlock): string => all.filter((it) => isStart(it) && it.section === block.section)[0]?.code ?? '';

  it('has a first transfer', () => expect(ofReadme.map(({ section }) => section)).toContain('The first transfer'));

  test.each(named(ofReadme))('%s', async (_name, block) => {
    const { section, code } = block;
    const output = await runShell(`${startOf(block)}${code}`);
    const answers = output.split('\n').filter((line) => line.startsWith('{'));
    if (section === 'The first transfer') expect(answers.at(-1)).toContain('"status":"CONFIRMED"');
  });
});

describe('other documents', () => {
  const others = run.filter(({ document }) => document !== 'README.md');
  let variables: Record<string, string>;
  beforeAll(async () => {
    const transfers = '/transactions?status=CONFIRMED,FAILED&created_after=2026-01-01T00:00:00Z&page_size=2';
    const { body } = await call('GET', transfers);
    const [first, second] = body.data;
    // other files make accounts at the same time, also ones that hold no USDC
    const account = await fundedAccount('ethereum', { ETH: '1', USDC: '20' });
    const demo = stack().clients.find(({ name }) => name === 'demo');
    variables = {
      ...{ BASE: stack().base_url, NEXT: second.tx_id, TX1: first.tx_id, TX2: second.tx_id, FACTOR: first.tx_id },
      ...{ KEY: demo?.api_key ?? '', SECRET: demo?.api_secret ?? '', FROM: account.address, TO: `0x${'00'.repeat(18)}dEaD` },
    };
  });

  test.each(named(others))('%s', async (_name, { section, code }) => {
    const needsCode = code.includes(mfaCode);
    const user = needsCode ? await newUser(database) : null;
    const token = await (user?.api ?? api()).accessToken();
    const filled = user ? code.replaceAll(mfaCode, `"mfa_code":"${user.code}"`) : code;
    const output = await runShell(filled, { ...variables, TOKEN: token });
    if (section === 'The same with curl') expect(output).toContain('"status":"CONFIRMED"');
  });
});
